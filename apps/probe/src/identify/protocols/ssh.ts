// The Secure Shell transport: identification (RFC 4253 section 4.2), algorithms (section 7.1), and the host key, which the server shows in
// an ECDH exchange (RFC 5656, RFC 8731) before anybody would log in.
import { createHash, generateKeyPairSync } from "node:crypto";
import { Reader } from "@lanthorn/packets";
import type { Connection } from "../connection.ts";
import { beginsWith, learned, type TcpProtocol, toText } from "../protocol.ts";

const KEXINIT = 20;
const KEX_ECDH_INIT = 30;
const KEX_ECDH_REPLY = 31;
/** RFC 4253 section 6.1: 35000 bytes are what everybody takes. */
const MAX_PACKET = 35_000;
const EXCHANGES = "curve25519-sha256,curve25519-sha256@libssh.org";
const HOST_KEYS = "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256,ssh-rsa";
const CIPHERS = "chacha20-poly1305@openssh.com,aes128-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-cbc,3des-cbc";
const MACS = "hmac-sha2-256-etm@openssh.com,hmac-sha2-256,hmac-sha2-512,hmac-sha1";
const IDENTIFICATION = "SSH-2.0-lanthorn\r\n";
const ANSWER_MS = 3000;

/** Software, algorithms and host key; the connection ends before anybody logs in. @see RFC 4253 sections 4.2, 7.1 and 8 */
export const ssh: TcpProtocol = {
  name: "ssh",
  ports: [22, 222, 2022, 2222, 22222, 830],
  recognise: (bytes) => beginsWith(bytes, "SSH-"),
  async learn(first, connection) {
    const text = toText(first);
    const line = /^SSH-[^\r\n]*/.exec(text)?.[0] ?? "";
    const software = /^SSH-[\d.]+-(.*)/.exec(line)?.[1] ?? "";
    const key = line.startsWith("SSH-2.0") || line.startsWith("SSH-1.99") ? await readHostKey(first, connection) : null;
    return learned("ssh", {
      answers: [{ kind: "ssh", text: software }],
      keys: key ? [{ field: "ssh_host_key", value: key.fingerprint }] : [],
      banner: key ? [
        line, `host key: ${key.fingerprint}`, `kex: ${key.algorithms.kex}`, `host keys: ${key.algorithms.hostKeys}`,
        `ciphers: ${key.algorithms.ciphers}`,
      ].join("\n") : line,
    });
  },
};

/** A host key as `ssh-keygen -l` shows it, after its type. */
export interface SshHostKey {
  readonly fingerprint: string;
  readonly algorithms: { readonly kex: string; readonly hostKeys: string; readonly ciphers: string };
}

async function readHostKey(first: Uint8Array, connection: Connection): Promise<SshHostKey | null> {
  connection.send(Buffer.concat([Buffer.from(IDENTIFICATION), encodePacket(encodeKexInit())]));
  const lineEnd = first.indexOf(0x0a);
  let bytes: Uint8Array = lineEnd === -1 ? new Uint8Array() : first.subarray(lineEnd + 1);
  const next = async (): Promise<Uint8Array | null> => {
    for (;;) {
      const packet = splitPacket(bytes);
      if (packet === "bad") return null;
      if (packet) {
        bytes = packet.rest;
        return packet.payload;
      }
      const more = await connection.read(() => true, ANSWER_MS);
      if (more.length === 0) return null;
      bytes = Buffer.concat([bytes, more]);
      if (bytes.length > 2 * MAX_PACKET) return null;
    }
  };
  const server = await next();
  const algorithms = server && decodeKexInit(server);
  if (!algorithms) return null;
  const shared = EXCHANGES.split(",").some((name) => algorithms.kex.split(",").includes(name));
  const keyType = HOST_KEYS.split(",").some((name) => algorithms.hostKeys.split(",").includes(name));
  if (!shared || !keyType) return null;
  const point = generateKeyPairSync("x25519").publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  connection.send(encodePacket(Buffer.concat([Buffer.from([KEX_ECDH_INIT]), encodeString(point)])));
  for (let packets = 0; packets < 4; packets += 1) {
    const reply = await next();
    if (!reply) return null;
    if (reply[0] !== KEX_ECDH_REPLY) continue;
    const fingerprint = fingerprintOf(reply);
    return fingerprint === null ? null : { fingerprint, algorithms };
  }
  return null;
}

/** @see RFC 4253 section 6, before any key is agreed on */
export function encodePacket(payload: Uint8Array): Buffer {
  const padding = 8 - ((payload.length + 5) % 8) + (8 - ((payload.length + 5) % 8) < 4 ? 8 : 0);
  const packet = Buffer.alloc(5 + payload.length + padding);
  packet.writeUInt32BE(payload.length + padding + 1, 0);
  packet[4] = padding;
  packet.set(payload, 5);
  return packet;
}

/** @returns Null while it is not whole; `bad` for what is no packet. */
export function splitPacket(bytes: Uint8Array): { readonly payload: Uint8Array; readonly rest: Uint8Array } | "bad" | null {
  const reader = new Reader(bytes);
  const length = reader.u32();
  const padding = reader.u8();
  if (reader.failed) return null;
  if (length > MAX_PACKET || length < padding + 1) return "bad";
  const payload = reader.take(length - padding - 1);
  reader.take(padding);
  return reader.failed ? null : { payload, rest: bytes.subarray(reader.offset) };
}

function encodeKexInit(): Buffer {
  // A cookie that nobody needs to guess: no key of this exchange is ever used.
  const cookie = Buffer.alloc(16, 0x4c);
  const lists = [EXCHANGES, HOST_KEYS, CIPHERS, CIPHERS, MACS, MACS, "none", "none", "", ""]
    .map((names) => encodeString(Buffer.from(names)));
  return Buffer.concat([Buffer.from([KEXINIT]), cookie, ...lists, Buffer.alloc(5)]);
}

function decodeKexInit(payload: Uint8Array): SshHostKey["algorithms"] | null {
  const reader = new Reader(payload);
  if (reader.u8() !== KEXINIT) return null;
  reader.take(16);
  const [kex = "", hostKeys = "", ciphers = ""] = [0, 1, 2].map(() => toText(reader.take(reader.u32())));
  return reader.failed ? null : { kex, hostKeys, ciphers };
}

/** @returns As `ssh-ed25519 SHA256:…`, or null where the key cannot be read. */
function fingerprintOf(reply: Uint8Array): string | null {
  const reader = new Reader(reply, 1);
  const key = reader.take(reader.u32());
  const inner = new Reader(key);
  const type = toText(inner.take(inner.u32()));
  if (reader.failed || inner.failed || !/^[a-z0-9@.-]{1,64}$/.test(type)) return null;
  return `${type} SHA256:${createHash("sha256").update(key).digest("base64").replace(/(?<!=)=+$/, "")}`;
}

function encodeString(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
