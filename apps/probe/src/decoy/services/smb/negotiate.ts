/** Which dialect is spoken. @see MS-SMB2 sections 2.2.3, 2.2.4, 3.3.5.3 and 3.3.5.4 */
import { encodeSpnegoOffer } from "../windows/spnego.ts";
import type { Peer, Stage } from "../service.ts";
import { encodeFiletime } from "../windows/filetime.ts";
import { HEADER_OCTETS } from "./message.ts";

/** What the server takes, the best one first; `any` is for who began with the old protocol. */
const DIALECTS = [0x0311, 0x0302, 0x0300, 0x0210, 0x0202] as const;
const [ANY, OLDEST] = [0x02ff, 0x0202];
/** The one whose keys are made of all messages before. */
export const NEWEST = 0x0311;
const CAPABILITIES = { leasing: 0x2, largeMtu: 0x4, distributed: 0x1 } as const;
const CONTEXT = { integrity: 1, encryption: 2 } as const;
const [SHA512, AES128_GCM] = [1, 2];
const MAX_TRANSFER = 8 * 1024 * 1024;
/** Of the old protocol's head: what Samba 4.17 sets in its answer, and what it repeats (Unicode, and that signatures are required). */
const OLD_FLAGS = { answer: 0x80, anyCase: 0x08, always: 0x4003, repeated: 0x8010 } as const;
const [NO_DIALECT, OLD_REFUSAL_OCTETS] = [0xffff, 37];
/** Messages may be signed. */
export const SECURITY_MODE = 1;

/** Who speaks both begins with the old protocol. @returns Null for what the new one does not follow. */
export function readOldDialect(text: string): number | null {
  if (text.includes("SMB 2.???")) return ANY;
  return text.includes("SMB 2.002") ? OLDEST : null;
}

/** Samba's answer to a client that has no dialect of the new protocol: none is in common. Windows says nothing. @param message Of the old protocol, at least its head. @see MS-CIFS section 2.2.4.52.2 */
export function encodeOldRefusal(message: Buffer): Buffer {
  const answer = Buffer.alloc(OLD_REFUSAL_OCTETS);
  message.copy(answer, 0, 0, 5);
  answer[9] = OLD_FLAGS.answer | OLD_FLAGS.anyCase;
  answer.writeUInt16LE(OLD_FLAGS.always | (message.readUInt16LE(10) & OLD_FLAGS.repeated), 10);
  // Process and message, as they were asked.
  message.copy(answer, 26, 26, 28);
  message.copy(answer, 30, 30, 32);
  answer[32] = 1;
  answer.writeUInt16LE(NO_DIALECT, 33);
  return answer;
}

/** @returns Null where there is none in common. */
export function readDialect(body: Buffer): number | null {
  if (body.length < 36) return null;
  const count = Math.min(body.readUInt16LE(2), 16);
  const asked = new Set(Array.from({ length: count }, (_, index) => (36 + 2 * index + 2 <= body.length ? body.readUInt16LE(36 + 2 * index) : 0)));
  return DIALECTS.find((dialect) => asked.has(dialect)) ?? null;
}

/** The decoy's own, sixteen octets. */
export function serverId({ derive }: Pick<Stage, "derive">): Buffer {
  return derive("smb2", 16);
}

/** What the server can. */
export function capabilitiesOf(dialect: number): number {
  return CAPABILITIES.distributed | (dialect === OLDEST ? 0 : CAPABILITIES.leasing | CAPABILITIES.largeMtu);
}

/** @returns The body of the answer. */
export function encodeNegotiation(peer: Pick<Peer, "now" | "random">, stage: Stage, dialect: number): Buffer {
  const token = encodeSpnegoOffer();
  const fixed = Buffer.alloc(64);
  fixed.writeUInt16LE(65, 0);
  fixed.writeUInt16LE(SECURITY_MODE, 2);
  fixed.writeUInt16LE(dialect, 4);
  serverId(stage).copy(fixed, 8);
  fixed.writeUInt32LE(capabilitiesOf(dialect), 24);
  for (const at of [28, 32, 36]) fixed.writeUInt32LE(dialect === OLDEST ? 65_536 : MAX_TRANSFER, at);
  encodeFiletime(peer.now().getTime()).copy(fixed, 40);
  fixed.writeUInt16LE(HEADER_OCTETS + fixed.length, 56);
  fixed.writeUInt16LE(token.length, 58);
  if (dialect !== NEWEST) return Buffer.concat([fixed, token]);
  const padding = Buffer.alloc((8 - (fixed.length + token.length) % 8) % 8);
  fixed.writeUInt16LE(2, 6);
  fixed.writeUInt32LE(HEADER_OCTETS + fixed.length + token.length + padding.length, 60);
  const integrity = Buffer.concat([Buffer.from([1, 0, 32, 0, SHA512, 0]), peer.random(32)]);
  return Buffer.concat([fixed, token, padding, context(CONTEXT.integrity, integrity), Buffer.alloc(2), context(CONTEXT.encryption, Buffer.from([1, 0, AES128_GCM, 0]))]);
}

function context(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(data.length, 2);
  return Buffer.concat([head, data]);
}
