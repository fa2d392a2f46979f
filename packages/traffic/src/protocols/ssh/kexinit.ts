/** SSH_MSG_KEXINIT, and the fingerprint of it. @see RFC 4253 section 7.1; https://github.com/salesforce/hassh */
import { createHash } from "node:crypto";
import { Reader } from "@lanthorn/packets";
import { latin1 } from "../latin1.ts";

/** Algorithms as a side names them, in its order of preference. */
export interface SshKexinit {
  /** Who sent it: by what only one of the two says, else as the flow counts its sides. */
  readonly role: "client" | "server";
  readonly kexAlgorithms: readonly string[];
  readonly hostKeyAlgorithms: readonly string[];
  readonly encryptionClientToServer: readonly string[];
  readonly encryptionServerToClient: readonly string[];
  readonly macClientToServer: readonly string[];
  readonly macServerToClient: readonly string[];
  readonly compressionClientToServer: readonly string[];
  readonly compressionServerToClient: readonly string[];
  /** HASSH of a client, hasshServer of a server: MD5 in hexadecimal. */
  readonly hassh: string;
  /** What `hassh` is the MD5 of. */
  readonly hasshText: string;
}

const KEXINIT = 20;
const COOKIE_LENGTH = 16;
/** OpenSSH has thirty at most. */
const MAX_NAMES = 200;

/**
 * @param payload Of the packet, without padding.
 * @param side Who sends it if the algorithms do not say.
 * @returns null where it is another message or not whole.
 */
export function decodeKexinit(payload: Uint8Array, side: "client" | "server"): SshKexinit | null {
  const reader = new Reader(payload);
  if (reader.u8() !== KEXINIT) return null;
  reader.skip(COOKIE_LENGTH);
  const texts: string[] = [];
  for (let index = 0; index < 8; index += 1) texts.push(latin1(reader.take(reader.u32())));
  if (reader.failed) return null;
  const [kex = "", hostKey = "", encryptionUp = "", encryptionDown = "", macUp = "", macDown = "", compressionUp = "", compressionDown = ""] = texts;
  const role = roleOf(kex) ?? side;
  const hasshText = role === "client" ? [kex, encryptionUp, macUp, compressionUp].join(";") : [kex, encryptionDown, macDown, compressionDown].join(";");
  return {
    role,
    kexAlgorithms: namesOf(kex),
    hostKeyAlgorithms: namesOf(hostKey),
    encryptionClientToServer: namesOf(encryptionUp),
    encryptionServerToClient: namesOf(encryptionDown),
    macClientToServer: namesOf(macUp),
    macServerToClient: namesOf(macDown),
    compressionClientToServer: namesOf(compressionUp),
    compressionServerToClient: namesOf(compressionDown),
    hassh: createHash("md5").update(hasshText, "latin1").digest("hex"),
    hasshText,
  };
}

function namesOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(",", MAX_NAMES);
}

/** @see RFC 8308 section 2.1; OpenSSH's PROTOCOL section 1.10 */
function roleOf(kex: string): "client" | "server" | null {
  if (/(?:^|,)(?:ext-info-c|kex-strict-c-v00@openssh\.com)(?:,|$)/.test(kex)) return "client";
  return /(?:^|,)(?:ext-info-s|kex-strict-s-v00@openssh\.com)(?:,|$)/.test(kex) ? "server" : null;
}
