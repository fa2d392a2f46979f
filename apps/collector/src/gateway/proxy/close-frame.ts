/**
 * WebSocket frames on their way through: enough to put a Close frame between two others.
 * @see RFC 6455 section 5.2: FIN, opcode, MASK, a length of 7, 16 or 64 bits, four bytes of key where it is masked.
 */

/** Follows the frames of one direction. */
export interface FrameCursor {
  /** Takes the next bytes. @returns How many of them come before the first frame boundary; all of them where there is none. */
  untilBoundary(bytes: Uint8Array): number;
  /** Takes the next bytes, whatever boundaries are in them. */
  push(bytes: Uint8Array): void;
  /** Whether the last byte that was taken was the last one of a frame, or there was none yet. */
  atBoundary(): boolean;
}

const MAX_HEAD_BYTES = 14;

/** Holds at most one frame's head, 14 bytes. */
export function createFrameCursor(): FrameCursor {
  const head = new Uint8Array(MAX_HEAD_BYTES);
  let headBytes = 0;
  let left = 0n;

  /** Takes bytes of one frame at most. @returns How many it took. */
  const step = (bytes: Uint8Array): number => {
    if (left > 0n) {
      const taken = left < BigInt(bytes.length) ? Number(left) : bytes.length;
      left -= BigInt(taken);
      return taken;
    }
    let at = 0;
    while (at < bytes.length) {
      head[headBytes] = bytes[at] as number;
      headBytes += 1;
      at += 1;
      const length = payloadLength(head.subarray(0, headBytes));
      if (length === null) continue;
      headBytes = 0;
      left = length;
      break;
    }
    return at;
  };

  const atBoundary = () => headBytes === 0 && left === 0n;
  return {
    atBoundary,
    untilBoundary(bytes) {
      let at = 0;
      while (at < bytes.length && !atBoundary()) at += step(bytes.subarray(at));
      return at;
    },
    push(bytes) {
      let at = 0;
      while (at < bytes.length) at += step(bytes.subarray(at));
    },
  };
}

/** @returns Null until the whole head is there. */
function payloadLength(head: Uint8Array): bigint | null {
  const second = head[1];
  if (second === undefined) return null;
  const short = second & 0x7f;
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
  const total = 2 + extended + ((second & 0x80) === 0 ? 0 : 4);
  if (head.length < total) return null;
  if (extended === 0) return BigInt(short);
  let length = 0n;
  for (const byte of head.subarray(2, 2 + extended)) length = length * 256n + BigInt(byte);
  return length;
}

/** At most 125 bytes of payload, two of them the code (RFC 6455 section 5.5). */
const MAX_REASON_BYTES = 123;

/** A server's Close frame. @param reason Cut to 123 bytes. @see RFC 6455 section 5.5.1 */
export function encodeClose(code: number, reason: string): Buffer {
  const text = Buffer.from(reason, "utf8").subarray(0, MAX_REASON_BYTES);
  return Buffer.concat([Buffer.from([0x88, 2 + text.length, code >> 8, code & 0xff]), text]);
}
