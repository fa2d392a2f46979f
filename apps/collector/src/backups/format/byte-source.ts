import { unreadable } from "./unreadable.ts";

/** Bytes of a stream by number. What it holds is at most one chunk of the stream more than what was asked for. */
export interface ByteSource {
  /** Fewer only at the end, and none after it. */
  upTo(count: number): Promise<Uint8Array>;
  /** @throws CollectorError `backup-unreadable` where there are fewer. */
  exactly(count: number): Promise<Uint8Array>;
  /** The next `count` bytes as they come. @throws as `exactly`. */
  stream(count: number): AsyncGenerator<Uint8Array>;
}

/** Reads a stream of chunks by byte counts. What it returns can be a view of a chunk, not a copy. */
export function createByteSource(bytes: AsyncIterable<Uint8Array>): ByteSource {
  const chunks = bytes[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array();

  /** Some bytes, at most `most`; none at the end. */
  const some = async (most: number): Promise<Uint8Array> => {
    while (held.length === 0) {
      const { done, value } = await chunks.next();
      if (done === true) return held;
      held = value;
    }
    const taken = held.subarray(0, most);
    held = held.subarray(taken.length);
    return taken;
  };
  const source: ByteSource = {
    async upTo(count) {
      const parts: Uint8Array[] = [];
      for (let missing = count; missing > 0; ) {
        const part = await some(missing);
        if (part.length === 0) break;
        parts.push(part);
        missing -= part.length;
      }
      return parts.length === 1 ? (parts[0] ?? new Uint8Array()) : Buffer.concat(parts);
    },
    async exactly(count) {
      const taken = await source.upTo(count);
      if (taken.length < count) throw unreadable("it is truncated");
      return taken;
    },
    async *stream(count) {
      for (let missing = count; missing > 0; ) {
        const part = await some(missing);
        if (part.length === 0) throw unreadable("it is truncated");
        yield part;
        missing -= part.length;
      }
    },
  };
  return source;
}
