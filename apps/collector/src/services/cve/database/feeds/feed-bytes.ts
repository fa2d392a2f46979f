import { spawn } from "node:child_process";
import { createReadStream, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { describeError } from "@lanthorn/runtime";

/** What may come out of one file. NVD's whole list is 1.5 GB, the CVE list 2 GB. */
export const MAX_UNPACKED_BYTES = 8 * 1024 ** 3;
/**
 * How much more may come out than went in: JSON of feeds packs to a 10th to a 25th, and a bomb to a 1000th.
 */
export const MAX_RATIO = 200;
/** The ratio counts from here on: what unpacks to less is no bomb. */
export const RATIO_FREE_BYTES = 64 * 1024 ** 2;
const CHUNK_BYTES = 256 * 1024;
/** Of the dictionary of `xz`: files that need more are refused by it. */
const XZ_MEMORY = "--memlimit-decompress=256MiB";
const MAX_COMPLAINT_CHARACTERS = 500;

/** What was read of a file. */
export interface FeedBytes {
  /** As it lies on the disk. */
  readonly octets: number;
  readonly unpacked: number;
  /** Why the rest was not read; null where all of it was. */
  readonly error: string | null;
}

/**
 * Reads a file, and unpacks what is gzip or xz by its first bytes, whatever it is called.
 * @param onChunk Called with each piece, whose bytes are valid until it returns. `octets` of the file were read by then.
 * @returns Never rejects: a file that cannot be read, is cut off, damaged or a bomb is an `error`, after the pieces before the fault.
 */
export async function readFeedBytes(file: string, onChunk: (chunk: Uint8Array, octets: number) => void, limits = {
  maxBytes: MAX_UNPACKED_BYTES, maxRatio: MAX_RATIO,
}): Promise<FeedBytes> {
  let [octets, unpacked] = [0, 0];
  try {
    if (!statSync(file).isFile()) throw new Error("it is not a file");
    const packing = await packingOf(file);
    const count = async function* count(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of source) {
        octets += chunk.length;
        yield chunk;
      }
    };
    const take = async (source: AsyncIterable<Buffer>) => {
      for await (const chunk of source) {
        unpacked += chunk.length;
        if (unpacked > limits.maxBytes) throw new Error(`it unpacks to more than ${Math.round(limits.maxBytes / 1e6)} MB`);
        if (unpacked > RATIO_FREE_BYTES && unpacked > octets * limits.maxRatio) {
          throw new Error(`it unpacks to more than ${limits.maxRatio} times its size: it is no feed`);
        }
        onChunk(chunk, octets);
      }
    };
    const source = createReadStream(file, { highWaterMark: CHUNK_BYTES });
    if (packing === "gzip") await pipeline(source, count, createGunzip({ chunkSize: CHUNK_BYTES }), take);
    else if (packing === "xz") await throughXz((input) => pipeline(source, count, input), take);
    else await pipeline(source, count, take);
    return { octets, unpacked, error: null };
  } catch (error) {
    return { octets, unpacked, error: describeError(error) };
  }
}

/** How a file is packed, by its first bytes. @throws what the file system throws. */
export async function packingOf(file: string): Promise<"gzip" | "xz" | "zip" | "none"> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(6), 0, 6, 0);
    const start = buffer.subarray(0, bytesRead).toString("hex");
    if (start.startsWith("1f8b")) return "gzip";
    // An archive without files has the end of its directory alone.
    if (start.startsWith("504b0304") || start.startsWith("504b0506")) return "zip";
    return start === "fd377a585a00" ? "xz" : "none";
  } finally {
    await handle.close();
  }
}

/** Node knows no xz: the program of xz-utils unpacks it, in a process whose memory is bounded. */
async function throughXz(
  feed: (input: NodeJS.WritableStream) => Promise<void>, take: (output: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const child = spawn("xz", ["--decompress", "--stdout", "--quiet", XZ_MEMORY], { stdio: ["pipe", "pipe", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => (complaint = `${complaint}${chunk.toString()}`.slice(0, MAX_COMPLAINT_CHARACTERS)));
  const ended = new Promise<string | null>((resolve) => {
    child.on("error", (error) => resolve(`xz could not be started, which unpacks it: install xz-utils (${error.message})`));
    child.on("close", (code, killer) => resolve(code === 0 ? null : complaint.trim() || `xz ended with ${killer ?? code}`));
  });
  // What goes wrong with its input shows in how it ends.
  const fed = feed(child.stdin).catch(() => {});
  try {
    await take(child.stdout);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  await fed;
  const fault = await ended;
  if (fault !== null) throw new Error(fault);
}
