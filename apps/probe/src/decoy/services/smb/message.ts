/** Messages of SMB 2 and 3: a header of 64 octets and a body; several may come in one frame. @see MS-SMB2 sections 2.2.1 and 3.3.5.2.7 */

/** @see MS-SMB2 section 2.2.1.2 */
export const COMMAND = {
  negotiate: 0, sessionSetup: 1, logoff: 2, treeConnect: 3, treeDisconnect: 4, create: 5, close: 6, flush: 7, read: 8, write: 9, lock: 10, ioctl: 11, cancel: 12, echo: 13,
  queryDirectory: 14, changeNotify: 15, queryInfo: 16, setInfo: 17,
} as const;

/** @see MS-ERREF section 2.3 */
export const STATUS = {
  success: 0, bufferOverflow: 0x8000_0005, noMoreFiles: 0x8000_0006, infoLengthMismatch: 0xc000_0004, invalid: 0xc000_000d, noSuchFile: 0xc000_000f, invalidRequest: 0xc000_0010, endOfFile: 0xc000_0011,
  moreProcessing: 0xc000_0016, accessDenied: 0xc000_0022, nameNotFound: 0xc000_0034, collision: 0xc000_0035, pathNotFound: 0xc000_003a, logonFailure: 0xc000_006d, insufficient: 0xc000_009a, isFolder: 0xc000_00ba, notSupported: 0xc000_00bb,
  networkNameDeleted: 0xc000_00c9, badNetworkName: 0xc000_00cc, noFolder: 0xc000_0103, fileClosed: 0xc000_0128, noDistributed: 0xc000_019c, deleted: 0xc000_0203,
} as const;

/** Of the transport's header, which says how long a frame is. */
export const FRAME_OCTETS = 4;
/** Offsets within a message count from the begin of its header. */
export const HEADER_OCTETS = 64;
const NEW = 0xfe53_4d42;
const [FROM_SERVER, RELATED, SIGNED] = [0x1, 0x4, 0x8] as const;
const SIGNATURE_AT = 48;
/** Messages of one frame: what clients send together are three or four. */
const MAX_CHAIN = 8;
const MAX_CREDITS = 128;

/** What a client sends. Its buffers are views. */
export interface SmbRequest {
  readonly command: number;
  readonly messageId: bigint;
  readonly processId: number;
  readonly treeId: number;
  readonly sessionId: bigint;
  readonly credits: number;
  readonly isSigned: boolean;
  /** It goes on with what the one before it opened. */
  readonly isRelated: boolean;
  readonly body: Buffer;
  readonly whole: Buffer;
}

/** What it is answered. */
export interface SmbResponse {
  readonly status: number;
  readonly body: Buffer;
  readonly treeId?: number;
  readonly sessionId?: bigint;
}

/** @returns The signature of a message in which sixteen zeros stand for it. */
export type SignMessage = (message: Buffer) => Buffer;

/** @param message What is in a frame. @returns Its messages; null where it is none, or too many. */
export function readRequests(message: Buffer): readonly SmbRequest[] | null {
  const requests: SmbRequest[] = [];
  for (let rest = message; ;) {
    if (rest.length < HEADER_OCTETS + 2 || rest.readUInt32BE(0) !== NEW || rest.readUInt16LE(4) !== HEADER_OCTETS || requests.length >= MAX_CHAIN) return null;
    const next = rest.readUInt32LE(20);
    if (next !== 0 && (next < HEADER_OCTETS + 2 || next % 8 !== 0 || next > rest.length)) return null;
    const whole = next === 0 ? rest : rest.subarray(0, next);
    const flags = whole.readUInt32LE(16);
    requests.push({
      command: whole.readUInt16LE(12), credits: whole.readUInt16LE(14), messageId: whole.readBigUInt64LE(24), processId: whole.readUInt32LE(32), treeId: whole.readUInt32LE(36), sessionId: whole.readBigUInt64LE(40),
      isSigned: (flags & SIGNED) !== 0, isRelated: (flags & RELATED) !== 0, body: whole.subarray(HEADER_OCTETS), whole,
    });
    if (next === 0) return requests;
    rest = rest.subarray(next);
  }
}

/** Whether its signature is right. */
export function isSignedBy({ whole }: SmbRequest, sign: SignMessage): boolean {
  const copy = Buffer.from(whole);
  copy.fill(0, SIGNATURE_AT, HEADER_OCTETS);
  return sign(copy).equals(whole.subarray(SIGNATURE_AT, HEADER_OCTETS));
}

/** @param hasNext Others follow in the same frame. @param sign Null for one that is not signed. @returns Without the frame's header. */
export function encodeResponse({ command, messageId, processId, treeId, sessionId, credits, isRelated }: SmbRequest, response: SmbResponse, { hasNext, sign }: { readonly hasNext: boolean; readonly sign: SignMessage | null }): Buffer {
  const octets = HEADER_OCTETS + response.body.length;
  const message = Buffer.alloc(hasNext ? octets + (8 - octets % 8) % 8 : octets);
  message.writeUInt32BE(NEW, 0);
  message.writeUInt16LE(HEADER_OCTETS, 4);
  message.writeUInt32LE(response.status, 8);
  message.writeUInt16LE(command, 12);
  message.writeUInt16LE(Math.max(1, Math.min(credits, MAX_CREDITS)), 14);
  message.writeUInt32LE(FROM_SERVER | (isRelated ? RELATED : 0) | (sign ? SIGNED : 0), 16);
  if (hasNext) message.writeUInt32LE(message.length, 20);
  message.writeBigUInt64LE(messageId, 24);
  message.writeUInt32LE(processId, 32);
  message.writeUInt32LE(response.treeId ?? treeId, 36);
  message.writeBigUInt64LE(response.sessionId ?? sessionId, 40);
  response.body.copy(message, HEADER_OCTETS);
  sign?.(message).copy(message, SIGNATURE_AT);
  return message;
}

/** @returns A frame of these messages. */
export function encodeFrame(messages: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(FRAME_OCTETS);
  head.writeUInt32BE(messages.reduce((sum, { length }) => sum + length, 0), 0);
  return Buffer.concat([head, ...messages]);
}

/** @returns A refusal. @see MS-SMB2 section 2.2.2 */
export function refuse(status: number): SmbResponse {
  return { status, body: Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 0]) };
}

/** @returns The answer to what asks for nothing but that it is done. */
export function done(): SmbResponse {
  return { status: STATUS.success, body: Buffer.from([4, 0, 0, 0]) };
}

/** @param offset From the begin of the header. @returns A view of it; null where it lies outside of the body. */
export function cut({ whole }: Pick<SmbRequest, "whole">, offset: number, octets: number): Buffer | null {
  if (octets === 0) return Buffer.alloc(0);
  return offset < HEADER_OCTETS || offset + octets > whole.length ? null : whole.subarray(offset, offset + octets);
}

/** @returns Numbers in little endian: pairs of how many octets and the value. */
export function pack(...fields: readonly (readonly [octets: 1 | 2 | 4 | 8, value: number])[]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [octets]) => sum + octets, 0));
  let at = 0;
  for (const [octets, value] of fields) {
    if (octets === 8) bytes.writeBigUInt64LE(BigInt(value), at);
    else bytes.writeUIntLE(value, at, octets);
    at += octets;
  }
  return bytes;
}
