/** A body as it comes: its beginning is kept where that is asked for, the rest is skipped. @see RFC 9112 sections 6 and 7.1 */
import type { Hold, Intake } from "../stream-parser.ts";
import type { HttpFraming } from "./framing.ts";

/** One body. */
export interface HttpBodyReader {
  /** It has ended; a head follows. */
  readonly isOver: boolean;
  /** As `StreamParser.read`; below 0 where the chunks are none. */
  read(intake: Intake, bytes: Uint8Array, at: number): number;
  /** The connection has ended. */
  end(at: number): void;
  /** Forgets what was kept. */
  drop(): void;
}

const MAX_LINE_BYTES = 4096;
const MAX_TRAILER_LINES = 100;
/** Until the connection closes. */
const ENDLESS = Number.MAX_SAFE_INTEGER;
const NOTHING = new Uint8Array(0);

/**
 * @param maxBytes How much of its beginning is handed on; 0 hands on nothing.
 * @param hold Is called with what is kept of it.
 * @param onBeginning Is called once, when the beginning is there or the body ends.
 */
export function createBodyReader(
  framing: HttpFraming, maxBytes: number, hold: Hold, onBeginning: (bytes: Uint8Array, isWhole: boolean, at: number) => void,
): HttpBodyReader {
  const isChunked = framing.kind === "chunked";
  let state: "broken" | "data" | "data-end" | "over" | "size" | "trailer" = isChunked ? "size" : "data";
  let left = framing.kind === "length" ? framing.octets : framing.kind === "close" ? ENDLESS : 0;
  let trailers = 0;
  const beginning = createBeginning(maxBytes, hold, onBeginning);
  const { say, drop } = beginning;

  function readData(bytes: Uint8Array, from: number, at: number): number {
    if (beginning.isSaid) return finishData(left, at);
    const there = Math.min(left, bytes.length - from);
    const wanted = Math.min(there, beginning.room);
    if (wanted > 0) beginning.keep(bytes.subarray(from, from + wanted));
    if (wanted < there || beginning.room === 0) {
      say(!isChunked && left === wanted, at);
      return finishData(left, at);
    }
    return finishData(there, at);
  }

  /** @param count Taken, or to be skipped. */
  function finishData(count: number, at: number): number {
    if (left === ENDLESS) return count;
    left -= count;
    if (left > 0) return count;
    state = isChunked ? "data-end" : "over";
    if (!isChunked) say(true, at);
    return count;
  }

  /** @returns Size of the line at `from`; 0 where it is not whole, below 0 where it is none. */
  function readLine(bytes: Uint8Array, from: number, scanned: number, at: number): number {
    const end = findLineEnd(bytes, from, scanned);
    if (end < 0) return bytes.length - from > MAX_LINE_BYTES ? -1 : 0;
    const isEmpty = end === from || (end === from + 1 && bytes[from] === 0x0d);
    if (state === "data-end") state = isEmpty ? "size" : "broken";
    else if (state === "trailer") {
      trailers += 1;
      state = isEmpty ? "over" : trailers > MAX_TRAILER_LINES ? "broken" : "trailer";
    } else {
      left = readSize(bytes, from, end);
      state = left < 0 ? "broken" : left === 0 ? "trailer" : "data";
      if (left === 0) say(true, at);
    }
    return state === "broken" ? -1 : end + 1 - from;
  }

  return {
    get isOver() {
      return state === "over";
    },
    read(intake, bytes, at) {
      let taken = 0;
      while (taken < bytes.length && state !== "over") {
        const count = state === "data" ? readData(bytes, taken, at) : readLine(bytes, taken, intake.scanned, at);
        if (count < 0) return -1;
        if (count === 0) break;
        intake.scanned = 0;
        taken += count;
      }
      if (taken === 0) intake.scanned = bytes.length;
      return taken;
    },
    end: (at) => say(left === ENDLESS, at),
    drop,
  };
}

/** Keeps what is handed on of a body, until it is. */
function createBeginning(maxBytes: number, hold: Hold, onBeginning: (bytes: Uint8Array, isWhole: boolean, at: number) => void) {
  let [kept, length] = [NOTHING, 0];
  let isSaid = maxBytes === 0;

  function drop(): void {
    if (kept.length > 0) hold(-kept.length);
    kept = NOTHING;
  }

  return {
    get isSaid() {
      return isSaid;
    },
    /** Bytes that may still be kept. */
    get room() {
      return maxBytes - length;
    },
    keep(bytes: Uint8Array): void {
      if (length + bytes.length > kept.length) {
        const grown = growTo(kept, Math.min(maxBytes, Math.max(1024, (length + bytes.length) * 2)));
        hold(grown.length - kept.length);
        kept = grown;
      }
      kept.set(bytes, length);
      length += bytes.length;
    },
    say(isWhole: boolean, at: number): void {
      if (!isSaid && length > 0) onBeginning(kept.subarray(0, length), isWhole, at);
      isSaid = true;
      drop();
    },
    drop,
  };
}

function growTo(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(length);
  grown.set(bytes);
  return grown;
}

/** @returns Where the line at `from` ends, or -1 where it does not. Lines are short: a loop of ours is faster than a call. */
function findLineEnd(bytes: Uint8Array, from: number, scanned: number): number {
  const limit = Math.min(bytes.length, from + MAX_LINE_BYTES + 1);
  for (let at = Math.max(from, scanned); at < limit; at += 1) if (bytes[at] === 0x0a) return at;
  return -1;
}

/** @returns The size before extensions, or -1. */
function readSize(bytes: Uint8Array, from: number, end: number): number {
  let size = -1;
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at] as number;
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : byte >= 0x41 && byte <= 0x46 ? byte - 0x37 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
    if (digit < 0) return byte === 0x3b || byte === 0x0d || byte === 0x20 || byte === 0x09 ? size : -1;
    size = Math.max(size, 0) * 16 + digit;
    if (size > 0xffff_ffff_ffff) return -1;
  }
  return size;
}
