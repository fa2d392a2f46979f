import { type FileHandle, open } from "node:fs/promises";
import { createCaptureReader, type Malformed } from "@lanthorn/packets";
import { type AnalyzerCounters, type AnalyzerOptions, createAnalyzer, type FlowRecord } from "@lanthorn/traffic";

const CHUNK_BYTES = 1024 * 1024;
/** Of what has no size, as a pipe, and behind the end. */
const SMALL_CHUNK_BYTES = 65_536;

/** What was in the files. */
export interface FlowsRead {
  readonly counters: AnalyzerCounters;
  /** What was wrong with the files that were not read to their end, in words; what was read of them counts. */
  readonly problems: readonly string[];
}

/**
 * Reads the flows of capture files, one after the other as if they were one: ring files of one capture hold one flow together.
 * @param options.print Takes records, a few thousand at most at a time, and is waited for. In the order in which the flows end.
 * @param options.random From 0 to below 1.
 */
export async function readFlows(options: {
  readonly paths: readonly string[];
  readonly random: () => number;
  readonly onMessage: AnalyzerOptions["onMessage"];
  /** Is given each packet with its flow. */
  readonly watch?: AnalyzerOptions["watch"];
  /** Is waited for between pieces of a file. */
  readonly onChunk?: () => Promise<void>;
  readonly print: (records: readonly FlowRecord[]) => Promise<void> | void;
}): Promise<FlowsRead> {
  let records: FlowRecord[] = [];
  const analyzer = createAnalyzer({ random: options.random, onMessage: options.onMessage, watch: options.watch ?? null, onFlow: (record) => void records.push(record) });
  const problems: string[] = [];
  async function printSome(): Promise<void> {
    await options.onChunk?.();
    if (records.length === 0) return;
    const some = records;
    records = [];
    await options.print(some);
  }
  for (const path of options.paths) {
    let file: FileHandle | undefined;
    try {
      file = await open(path);
      const problem = await readFile(file, analyzer.frame, printSome);
      if (problem !== null) problems.push(`${path} was not read to its end: ${problem}`);
    } catch (cause) {
      problems.push(`cannot read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`);
    } finally {
      await file?.close();
    }
  }
  analyzer.flush();
  await printSome();
  return { counters: analyzer.counters(), problems };
}

/** @returns Why the file was not read to its end; null where it was. */
async function readFile(
  file: FileHandle, onFrame: (bytes: Uint8Array, wireLength: number, atMicroseconds: number, linkType: number) => void, printSome: () => Promise<void>,
): Promise<string | null> {
  const reader = createCaptureReader();
  let left = (await file.stat()).size;
  for (;;) {
    // A new one each time: frames are views on it. No Buffer: to take a view of one costs several times as much.
    const chunk = new Uint8Array(Math.min(Math.max(left, SMALL_CHUNK_BYTES), CHUNK_BYTES));
    const { bytesRead } = await file.read(chunk);
    left -= bytesRead;
    if (bytesRead === 0) return describe(reader.end());
    const { records, malformed } = reader.push(chunk.subarray(0, bytesRead));
    for (const { bytes, originalLength, seconds, nanoseconds, linkType } of records) {
      onFrame(bytes, originalLength, seconds * 1e6 + Math.floor(nanoseconds / 1000), linkType);
    }
    await printSome();
    if (malformed !== null) return describe(malformed);
  }
}

function describe(malformed: Malformed | null): string | null {
  if (malformed === null) return null;
  if (malformed.layer === "capture-file") return "it is no pcap or pcapng file";
  return malformed.code === "truncated" ? `it is cut off at byte ${malformed.offset}` : `${malformed.layer} makes no sense at byte ${malformed.offset}`;
}
