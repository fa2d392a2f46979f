/** Cuts a capture file that arrives in chunks into headers, records and blocks, whatever its format. */
import { badValue, type Malformed, truncated } from "../decoded.ts";
import { Reader } from "../reader.ts";

/** One frame as a capture file keeps it. */
export interface CaptureRecord {
  /**
   * Whole seconds since the epoch. Two plain numbers keep nanoseconds exact, which one number cannot, and cost no BigInt.
   * Both are 0 in a pcapng simple packet block, which has no time.
   */
  readonly seconds: number;
  /** 0 to 999,999,999, to be added to `seconds`. */
  readonly nanoseconds: number;
  /** Bytes on the wire; more than `bytes.length` where the capture was cut at a snap length. */
  readonly originalLength: number;
  /**
   * What was kept of the frame: a view on the chunk that was pushed, or on memory of its own where the record lay across two
   * chunks. It stays valid for as long as the caller leaves the chunk alone.
   */
  readonly bytes: Uint8Array;
  /** What the bytes begin with: 1 is Ethernet. @see https://www.tcpdump.org/linktypes.html */
  readonly linkType: number;
  /** Which interface of its section, from 0; always 0 in pcap. */
  readonly interfaceId: number;
  /** Which section of the file, from 0; always 0 in pcap. */
  readonly section: number;
}

/** What a writer needs to know of a frame. */
export interface CaptureFrame {
  readonly seconds: number;
  readonly nanoseconds: number;
  readonly bytes: Uint8Array;
  /** `bytes.length` where it is left out. */
  readonly originalLength?: number;
}

/**
 * The most bytes of one record: libpcap's own MAXIMUM_SNAPLEN. A record that claims more is malformed, so that no more than
 * this is ever held back for a record that is not whole yet.
 */
export const MAX_CAPTURE_RECORD_BYTES = 262_144;

/** What a format does with the bytes at the front. */
export type CaptureStep =
  /** Nothing until this many bytes are there in one piece. */
  | { readonly kind: "need"; readonly bytes: number }
  /**
   * This many bytes are done with, at least as many as were needed last; those beyond what was there are passed over unread
   * when they come.
   */
  | { readonly kind: "take"; readonly bytes: number; readonly record: CaptureRecord | null }
  /** The file cannot be read beyond here. `offset` counts from the front. */
  | { readonly kind: "malformed"; readonly offset: number };

/** A file format, as a machine that is stepped over the bytes. */
export interface CaptureFormat {
  readonly layer: string;
  /**
   * Looks at what begins at the reader's offset, which it may move, up to the reader's end. Asks for at most
   * `MAX_CAPTURE_RECORD_BYTES` and a header, and for more than there is.
   */
  step(reader: Reader): CaptureStep;
  /** Whether the file may end here. */
  mayEnd(): boolean;
}

/** What a push gave. */
export interface CaptureBatch {
  readonly records: readonly CaptureRecord[];
  /** Why nothing more can be read, or null. The records before it are good. `offset` counts from the start of the file. */
  readonly malformed: Malformed | null;
}

/** Reads a capture file as its bytes arrive. */
export interface CaptureReader {
  /** Takes the next bytes of the file, of any number. After a malformed place it gives no more records. */
  push(chunk: Uint8Array): CaptureBatch;
  /** Says that the file has ended. @returns What was wrong, `truncated` where the last record is not whole, or null. */
  end(): Malformed | null;
}

/** @returns A reader that holds back at most one unfinished record between pushes. */
export function createFramedReader(format: CaptureFormat): CaptureReader {
  /** Bytes of the file that are done with. */
  let position = 0;
  let toSkip = 0;
  /** The front of a record that is not whole yet, and how long it must get before the format can go on. */
  let held = createHeld();
  let needed = 0;
  let failure: Malformed | null = null;

  function push(chunk: Uint8Array): CaptureBatch {
    const records: CaptureRecord[] = [];
    const reader = new Reader(chunk);
    let at = 0;
    while (failure === null) {
      const skipped = Math.min(toSkip, chunk.length - at);
      toSkip -= skipped;
      position += skipped;
      at += skipped;
      if (held.length > 0) at += held.append(chunk.subarray(at, at + needed - held.length));
      if (held.length < needed || (needed === 0 && at === chunk.length)) break;
      reader.offset = at;
      const step = format.step(needed > 0 ? held.reader() : reader);
      if (step.kind === "need") {
        if (needed === 0) at += held.append(chunk.subarray(at));
        needed = step.bytes;
      } else if (step.kind === "malformed") {
        failure = badValue(format.layer, position + step.offset);
      } else {
        if (step.record) records.push(step.record);
        const taken = Math.min(step.bytes, needed > 0 ? needed : chunk.length - at);
        toSkip = step.bytes - taken;
        position += taken;
        if (needed === 0) at += taken;
        else held = createHeld();
        needed = 0;
      }
    }
    return { records, malformed: failure };
  }

  return {
    push,
    end() {
      if (failure === null && (needed > 0 || toSkip > 0 || !format.mayEnd())) failure = truncated(format.layer, position + held.length);
      return failure;
    },
  };
}

/** Grows with the bytes that really came, never by a length that the file claims. */
function createHeld() {
  let bytes = new Uint8Array(0);
  let length = 0;
  return {
    get length() {
      return length;
    },
    /** @returns How many bytes there were. */
    append(more: Uint8Array): number {
      if (length + more.length > bytes.length) {
        const grown = new Uint8Array(Math.max(64, bytes.length * 2, length + more.length));
        grown.set(bytes.subarray(0, length));
        bytes = grown;
      }
      bytes.set(more, length);
      length += more.length;
      return more.length;
    },
    reader: () => new Reader(bytes, 0, length),
  };
}
