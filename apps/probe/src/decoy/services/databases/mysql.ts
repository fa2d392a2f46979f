/** MySQL's protocol up to the password. @see https://mariadb.com/kb/en/connection/ */
import { createHash } from "node:crypto";
import type { Service } from "../service.ts";

const CAPABILITY = { protocol41: 0x0200, secureConnection: 0x8000, pluginAuth: 0x0008_0000, lengthEncodedAuth: 0x0020_0000, connectWithDatabase: 8 } as const;
/** What MariaDB offers, without TLS. */
const CAPABILITIES = 0x81bf_f7fe;
const SCRAMBLE_OCTETS = 20;
const UTF8 = 45;
const MAX_PACKET_BYTES = 64 * 1024;
const HEADER_OCTETS = 4;
/** Capabilities, longest packet, character set, and 23 octets of nothing. */
const FIXED_OCTETS = 32;

/** Greets, and refuses who logs in. */
export const mysql: Service = (peer, stage) => {
  // No zeros: older clients read the scramble as a text.
  const scramble = Buffer.from(peer.random(SCRAMBLE_OCTETS).map((octet) => (octet % 94) + 33));
  let held = Buffer.alloc(0);
  peer.send(packet(0, greeting(stage.persona.mysql, scramble, peer.random(4))));
  return (bytes) => {
    held = Buffer.concat([held, bytes]);
    if (held.length < HEADER_OCTETS) return;
    const octets = held.readUIntLE(0, 3);
    if (octets > MAX_PACKET_BYTES) return peer.end();
    if (held.length < HEADER_OCTETS + octets) return;
    const sequence = held[3] ?? 0;
    const login = readLogin(held.subarray(HEADER_OCTETS, HEADER_OCTETS + octets));
    held = Buffer.alloc(0);
    if (!login) return peer.end(packet(sequence + 1, failure(1043, "08S01", "Bad handshake")));
    peer.tried(login.username, (password) => login.proof.equals(proofOf(password, scramble)));
    const using = login.proof.length > 0 ? "YES" : "NO";
    peer.end(packet(sequence + 1, failure(1045, "28000", `Access denied for user '${login.username}'@'${peer.address}' (using password: ${using})`)));
  };
};

function packet(sequence: number, body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_OCTETS);
  header.writeUIntLE(body.length, 0, 3);
  header[3] = sequence & 0xff;
  return Buffer.concat([header, body]);
}

function greeting(version: string, scramble: Buffer, connectionId: Buffer): Buffer {
  const fixed = Buffer.alloc(18);
  fixed.writeUInt16LE(CAPABILITIES & 0xffff, 0);
  fixed[2] = UTF8;
  fixed.writeUInt16LE(2, 3);
  fixed.writeUInt16LE(CAPABILITIES >>> 16, 5);
  fixed[7] = SCRAMBLE_OCTETS + 1;
  // Connections are counted from one on, and a server that has run for long has had some thousands.
  const id = Buffer.from([connectionId[0] ?? 1, (connectionId[1] ?? 0) & 0x3f, 0, 0]);
  return Buffer.concat([
    Buffer.from([10]), Buffer.from(`${version}\0`), id, scramble.subarray(0, 8), Buffer.from([0]), fixed, scramble.subarray(8), Buffer.from([0]), Buffer.from("mysql_native_password\0"),
  ]);
}

function failure(code: number, state: string, message: string): Buffer {
  const head = Buffer.alloc(3);
  head[0] = 0xff;
  head.writeUInt16LE(code, 1);
  return Buffer.concat([head, Buffer.from(`#${state}${message}`)]);
}

/** @returns Null for what is no answer to the greeting. */
function readLogin(body: Buffer): { readonly username: string; readonly proof: Buffer } | null {
  if (body.length < FIXED_OCTETS + 1 || (body.readUInt16LE(0) & CAPABILITY.protocol41) === 0) return null;
  const end = body.indexOf(0, FIXED_OCTETS);
  if (end < 0) return null;
  const octets = body[end + 1] ?? 0;
  return { username: body.toString("utf8", FIXED_OCTETS, end), proof: body.subarray(end + 2, end + 2 + octets) };
}

/** What a client that has the password sends instead of it; nothing for an empty one. */
function proofOf(password: string, scramble: Buffer): Buffer {
  if (password === "") return Buffer.alloc(0);
  const sha1 = (...parts: readonly Buffer[]) => createHash("sha1").update(Buffer.concat(parts)).digest();
  const first = sha1(Buffer.from(password));
  const mask = sha1(scramble, sha1(first));
  return Buffer.from(first.map((octet, index) => octet ^ (mask[index] ?? 0)));
}
