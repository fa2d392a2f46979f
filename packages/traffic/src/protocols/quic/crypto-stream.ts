/** CRYPTO frames put in order: browsers shuffle them. @see RFC 9000 sections 7.5 and 19.6 */
import { Reader } from "@lanthorn/packets";
import { HELD_OVERHEAD_BYTES, holdSegment, type HeldSegment } from "../../streams/held-segments.ts";
import type { Hold } from "../stream-parser.ts";
import { readVariableInteger } from "./variable-integer.ts";

/** The handshake bytes of one side. */
export interface CryptoStream {
  /** Takes the frames of a decrypted packet. @param onBytes Is given the bytes that follow those before, as a view. */
  take(frames: Uint8Array, onBytes: (bytes: Uint8Array) => void): void;
}

/** Everyone must take 4096 bytes; hellos with post-quantum keys and many extensions have some two thousand. */
const MAX_STREAM_BYTES = 64 * 1024;
const MAX_HELD = 128;
const FRAME = { padding: 0, ping: 1, ack: 2, ackWithEcn: 3, crypto: 6 } as const;

/** @param hold Is called with what waits for its turn. @returns A stream that begins at 0. */
export function createCryptoStream(hold: Hold): CryptoStream {
  const held: HeldSegment[] = [];
  let next = 0;

  function take(offset: number, data: Uint8Array, onBytes: (bytes: Uint8Array) => void): void {
    const end = offset + data.length;
    if (end <= next || end > MAX_STREAM_BYTES || held.length >= MAX_HELD) return;
    const fresh = offset < next ? data.subarray(next - offset) : data;
    if (held.length === 0 && offset <= next) {
      next = end;
      onBytes(fresh);
      return;
    }
    hold(holdSegment(held, Math.max(offset, next), fresh));
    for (let first = held[0]; first && first.sequence === next; first = held[0]) {
      held.shift();
      hold(-(first.bytes.length + HELD_OVERHEAD_BYTES));
      next += first.bytes.length;
      onBytes(first.bytes);
    }
  }

  return {
    take(frames, onBytes) {
      const reader = new Reader(frames);
      while (reader.remaining > 0 && !reader.failed) {
        const type = reader.u8();
        if (type === FRAME.padding || type === FRAME.ping) continue;
        if (type === FRAME.ack || type === FRAME.ackWithEcn) skipAck(reader, type);
        else if (type === FRAME.crypto) {
          const offset = readVariableInteger(reader);
          const data = reader.take(readVariableInteger(reader));
          if (!reader.failed) take(offset, data, onBytes);
        } else return;
      }
    },
  };
}

/** @see RFC 9000 section 19.3 */
function skipAck(reader: Reader, type: number): void {
  readVariableInteger(reader);
  readVariableInteger(reader);
  const ranges = readVariableInteger(reader);
  readVariableInteger(reader);
  for (let left = ranges * 2; left > 0 && !reader.failed; left -= 1) readVariableInteger(reader);
  for (let left = type === FRAME.ackWithEcn ? 3 : 0; left > 0; left -= 1) readVariableInteger(reader);
}
