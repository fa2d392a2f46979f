import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { FeedDefinition, FeedFile } from "../definition.ts";
import { FeedFailure } from "../failure.ts";

/** What was found in a file without parsing it. */
export interface Scan {
  readonly records: number;
  /** How many of them say where they apply; null for a feed that does not say it. */
  readonly configured: number | null;
  /** The beginning of the unpacked text, at most 4 KiB. */
  readonly head: string;
  /** SHA-256 of what is unpacked, in hexadecimal. */
  readonly sha256: string;
}

const HEAD_BYTES = 4096;

/**
 * Reads a plain or gzipped file through once: unpacks it within the feed's limits, and counts its records.
 * @throws FeedFailure `bomb`, `too-large`, `truncated`, `malformed`.
 */
export async function scanFile(file: FeedFile, feed: Pick<FeedDefinition, "mark" | "maxUnpackedBytes" | "maxRatio">): Promise<Scan> {
  const { mark } = feed;
  const [records, configured] = [createCounter(mark.record), mark.configured === undefined ? null : createCounter(mark.configured)];
  const hash = createHash("sha256");
  const maxBytes = Math.min(feed.maxUnpackedBytes, file.packing === "gzip" ? Math.max(1e6, file.bytes * feed.maxRatio) : feed.maxUnpackedBytes);
  let [unpacked, head, last] = [0, "", ""];
  for await (const chunk of unpack(file)) {
    unpacked += chunk.length;
    if (unpacked > maxBytes) {
      if (unpacked > feed.maxUnpackedBytes) throw new FeedFailure("too-large", "unpacked it is larger than it may be");
      throw new FeedFailure("bomb", `it unpacks to more than ${feed.maxRatio} times its size`);
    }
    if (head.length < HEAD_BYTES) head = (head + chunk.subarray(0, HEAD_BYTES).toString("latin1")).slice(0, HEAD_BYTES);
    const end = chunk.subarray(-64).toString("latin1").trimEnd();
    if (end !== "") last = end.at(-1) ?? "";
    records.take(chunk);
    configured?.take(chunk);
    hash.update(chunk);
  }
  if (unpacked === 0) throw new FeedFailure("malformed", "it is empty");
  if (mark.end !== undefined && last !== mark.end) throw new FeedFailure("truncated", "it ends in the middle");
  return { records: records.count(), configured: configured?.count() ?? null, head, sha256: hash.digest("hex") };
}

/** The bytes of a file, unpacked where it is gzip. @throws FeedFailure where the packing is damaged. */
async function* unpack({ path, packing }: FeedFile): AsyncGenerator<Buffer> {
  const source = createReadStream(path, { highWaterMark: 262_144 });
  if (packing !== "gzip") {
    yield* source as Readable & AsyncIterable<Buffer>;
    return;
  }
  const gunzip = createGunzip({ chunkSize: 262_144 });
  source.on("error", (error) => gunzip.destroy(error));
  try {
    yield* source.pipe(gunzip) as Readable & AsyncIterable<Buffer>;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!code.startsWith("Z_")) throw error;
    throw new FeedFailure(code === "Z_BUF_ERROR" ? "truncated" : "malformed", "its gzip packing is damaged", { cause: error });
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

/** Counts a text in chunks, also where it lies across two. */
function createCounter(text: string): { take(chunk: Buffer): void; count(): number } {
  const wanted = Buffer.from(text, "latin1");
  let [rest, total] = [Buffer.alloc(0), 0];
  const countIn = (bytes: Buffer) => {
    for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + wanted.length)) total += 1;
  };
  return {
    take(chunk) {
      // Shorter than the text on each side of the seam, so that nothing is counted twice.
      const seam = Buffer.concat([rest, chunk.subarray(0, wanted.length - 1)]);
      countIn(seam);
      countIn(chunk);
      const tail = chunk.subarray(-(wanted.length - 1));
      rest = tail.length === wanted.length - 1 ? Buffer.from(tail) : Buffer.concat([rest, tail]).subarray(-(wanted.length - 1));
    },
    count: () => total,
  };
}
