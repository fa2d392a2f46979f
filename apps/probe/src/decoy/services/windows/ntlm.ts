/** NTLM as SMB, RDP and WinRM carry it: the server's challenge, and who says to know a password. @see MS-NLMP sections 2.2.1 and 3.3 */
import { createHash, createHmac } from "node:crypto";
import type { Peer, Stage } from "../service.ts";
import { encodeFiletime } from "./filetime.ts";
import { md4 } from "./md4.ts";
import { rc4 } from "./rc4.ts";

const SIGNATURE = Buffer.from("NTLMSSP\0", "latin1");
const TYPE = { negotiate: 1, challenge: 2, authenticate: 3 } as const;
const FLAG = { unicode: 0x1, requestTarget: 0x4, ntlm: 0x200, alwaysSign: 0x8000, targetServer: 0x2_0000, extended: 0x8_0000, targetInfo: 0x80_0000, version: 0x200_0000, key128: 0x2000_0000, keyExchange: 0x4000_0000, key56: 0x8000_0000 } as const;
/** Of what the client asked for, what is agreed to. */
const AGREED = 0xe088_8235;
const CHALLENGE_HEAD_OCTETS = 56;
const ATTRIBUTE = { end: 0, computer: 1, domain: 2, dnsComputer: 3, dnsDomain: 4, timestamp: 7 } as const;
const CHALLENGE_OCTETS = 8;
const PROOF_OCTETS = 16;

interface NtlmTarget {
  /** In upper case, at most fifteen characters. */
  readonly computer: string;
  /** Major and minor version, and build. */
  readonly version: readonly [major: number, minor: number, build: number];
}

/** Who says to know a password. */
export interface NtlmLogin {
  readonly username: string;
  readonly isAnonymous: boolean;
  /** Whether the proof is one of this password. */
  isProofOf(password: string): boolean;
  /** What both sides have for signing, where it is a proof of this password. Sixteen octets; null for a key that cannot be one. */
  sessionKeyOf(password: string): Buffer | null;
  /** Who it is and from where, with the challenge and the first octets of the proof. */
  readonly detail: string;
}

/** One login: first NEGOTIATE, then AUTHENTICATE. */
export interface NtlmExchange {
  /** @returns The challenge, a login, or null for what is none. */
  read(message: Buffer): { readonly challenge: Buffer } | { readonly login: NtlmLogin } | null;
}

/** @returns Where the message begins within what carries it; null where there is none. */
export function findNtlm(bytes: Buffer): Buffer | null {
  const at = bytes.indexOf(SIGNATURE);
  return at < 0 ? null : bytes.subarray(at);
}

/** @returns A login's server side, with a challenge of its own. */
export function createNtlmExchange({ hostname, persona }: Stage, peer: Pick<Peer, "now" | "random">): NtlmExchange {
  const [target, challenge] = [{ computer: hostname.toUpperCase().slice(0, 15), version: persona.windows }, peer.random(CHALLENGE_OCTETS)];
  return {
    read(message) {
      if (message.length < 16 || !message.subarray(0, 8).equals(SIGNATURE)) return null;
      const type = message.readUInt32LE(8);
      if (type === TYPE.negotiate) return { challenge: encodeChallenge(target, challenge, message.readUInt32LE(12), peer.now().getTime()) };
      const login = type === TYPE.authenticate ? readLogin(message, challenge) : null;
      return login && { login };
    },
  };
}

function encodeChallenge({ computer, version: [major, minor, build] }: NtlmTarget, challenge: Buffer, asked: number, nowMs: number): Buffer {
  const name = Buffer.from(computer, "utf16le");
  const info = Buffer.concat([
    attribute(ATTRIBUTE.domain, name), attribute(ATTRIBUTE.computer, name), attribute(ATTRIBUTE.dnsDomain, Buffer.from(computer.toLowerCase(), "utf16le")),
    attribute(ATTRIBUTE.dnsComputer, Buffer.from(computer.toLowerCase(), "utf16le")), attribute(ATTRIBUTE.timestamp, encodeFiletime(nowMs)), attribute(ATTRIBUTE.end, Buffer.alloc(0)),
  ]);
  const head = Buffer.alloc(CHALLENGE_HEAD_OCTETS);
  SIGNATURE.copy(head);
  head.writeUInt32LE(TYPE.challenge, 8);
  writeField(head, 12, name.length, CHALLENGE_HEAD_OCTETS);
  head.writeUInt32LE(((asked & AGREED) | FLAG.unicode | FLAG.requestTarget | FLAG.ntlm | FLAG.targetServer | FLAG.targetInfo | FLAG.extended | FLAG.version) >>> 0, 20);
  challenge.copy(head, 24);
  writeField(head, 40, info.length, CHALLENGE_HEAD_OCTETS + name.length);
  head.set([major, minor, build & 0xff, build >>> 8, 0, 0, 0, 15], 48);
  return Buffer.concat([head, name, info]);
}

function attribute(id: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(id, 0);
  head.writeUInt16LE(value.length, 2);
  return Buffer.concat([head, value]);
}

function writeField(bytes: Buffer, at: number, octets: number, offset: number): void {
  bytes.writeUInt16LE(octets, at);
  bytes.writeUInt16LE(octets, at + 2);
  bytes.writeUInt32LE(offset, at + 4);
}

function readLogin(message: Buffer, challenge: Buffer): NtlmLogin | null {
  if (message.length < 64) return null;
  const field = (at: number): Buffer | null => {
    const [octets, offset] = [message.readUInt16LE(at), message.readUInt32LE(at + 4)];
    return offset + octets > message.length ? null : message.subarray(offset, offset + octets);
  };
  const [answer, domain, user, workstation, hiddenKey] = [field(20), field(28), field(36), field(44), field(52)];
  if (!answer || !domain || !user || !workstation || !hiddenKey) return null;
  const flags = message.readUInt32LE(60);
  const isWide = (flags & FLAG.unicode) !== 0;
  const text = (bytes: Buffer) => bytes.toString(isWide ? "utf16le" : "latin1").slice(0, 255);
  const [username, domainName] = [text(user), text(domain)];
  const from = text(workstation);
  return {
    username, isAnonymous: username === "" && answer.length <= 1,
    detail: `NTLM: ${domainName === "" ? "" : `${domainName.slice(0, 64)}\\`}${username.slice(0, 64)}${from === "" ? "" : ` from ${from.slice(0, 32)}`}, challenge ${challenge.toString("hex")}, proof ${answer.subarray(0, 16).toString("hex")}`,
    isProofOf: (password) => isProofOf(answer, keyOf({ password, username, domain: domainName }), challenge),
    sessionKeyOf(password) {
      const key = createHmac("md5", keyOf({ password, username, domain: domainName })).update(answer.subarray(0, PROOF_OCTETS)).digest();
      if ((flags & FLAG.keyExchange) === 0) return key;
      return hiddenKey.length === key.length ? rc4(key, hiddenKey) : null;
    },
  };
}

/** @see MS-NLMP section 3.3.2, NTOWFv2 */
function keyOf({ password, username, domain }: { readonly password: string; readonly username: string; readonly domain: string }): Buffer {
  return createHmac("md5", md4(Buffer.from(password, "utf16le"))).update(Buffer.from(username.toUpperCase() + domain, "utf16le")).digest();
}

/** Of version 2, whose answer is longer than 24 octets, of the session's and the old one. @see MS-NLMP section 3.3 */
function isProofOf(answer: Buffer, key: Buffer, challenge: Buffer): boolean {
  if (answer.length <= 24) return false;
  return createHmac("md5", key).update(Buffer.concat([challenge, answer.subarray(PROOF_OCTETS)])).digest().equals(answer.subarray(0, PROOF_OCTETS));
}

/** @returns The server's first signature, as SPNEGO has it over the list of mechanisms. @see MS-NLMP sections 3.4.4.2, 3.4.5.2 and 3.4.5.3 */
export function signFirst(sessionKey: Buffer, message: Uint8Array): Buffer {
  const derive = (purpose: string) => createHash("md5").update(sessionKey).update(`session key to server-to-client ${purpose} key magic constant\0`, "latin1").digest();
  const sum = createHmac("md5", derive("signing")).update(Buffer.alloc(4)).update(message).digest().subarray(0, 8);
  return Buffer.concat([Buffer.from([1, 0, 0, 0]), rc4(derive("sealing"), sum), Buffer.alloc(4)]);
}
