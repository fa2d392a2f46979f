import { createWriteStream } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { describeError } from "@lanthorn/runtime";
import type { FeedKind } from "@lanthorn/vulnerability";
import { readZipContent } from "../../../../archives/zip-content.ts";
import { readZipEntries, type ZipEntry } from "../../../../archives/zip-directory.ts";
import { ZipError } from "../../../../archives/zip-error.ts";
import { type FeedBytes, MAX_RATIO, MAX_UNPACKED_BYTES, RATIO_FREE_BYTES } from "./feed-bytes.ts";
import { createFileReader, createRecordFileReader, type FileReading } from "./feed-reader.ts";

const LIMITS = { maxUnpackedBytes: MAX_UNPACKED_BYTES, maxRatio: MAX_RATIO, ratioFreeBytes: RATIO_FREE_BYTES };
/** Of other files, as a README, nothing is read. */
const FEED_FILE = /\.(?:json|jsonl|csv|xml)$/;
/** Kinds that come as many small files of one record. One of those that is broken is one record less, and not a broken feed. */
const RECORD_FILES: ReadonlySet<FeedKind> = new Set<FeedKind>(["cve-list", "osv", "nvd-records"]);
const NO_RECORD = "no record";

/** How an archive is read. */
export interface ArchiveReading extends FileReading {
  /** Where an archive in the archive is unpacked to, and removed from. */
  readonly scratch: string;
  /** Takes how much of the archive was read. */
  readonly onOctets: (octets: number) => void;
}

/**
 * Reads the files of a ZIP archive into the database, also of an archive in it. Nothing of it is written to a disk but that archive, and names are no paths.
 * @returns Never rejects but for what the database throws: an archive that cannot be read is an `error`.
 */
export async function readFeedArchive(path: string, reading: ArchiveReading): Promise<FeedBytes> {
  const done = { octets: 0, unpacked: 0, recognized: 0, kind: null };
  try {
    await readArchive(path, reading, { isInner: false, done });
    return { octets: done.octets, unpacked: done.unpacked, error: done.recognized === 0 ? "None of the files in its archive is of a feed that is known here." : null };
  } catch (error) {
    const { syscall } = error as NodeJS.ErrnoException;
    if (!(error instanceof ZipError || error instanceof BrokenFile) && syscall === undefined) throw error;
    return { octets: done.octets, unpacked: done.unpacked, error: describeError(error) };
  } finally {
    await rm(reading.scratch, { force: true });
  }
}

interface Done {
  octets: number;
  unpacked: number;
  recognized: number;
  /** Of files with one record each. */
  kind: FeedKind | null;
}

/** One file of an archive is broken, and with it the archive. */
class BrokenFile extends Error {
  override readonly name = "BrokenFile";
}

async function readArchive(path: string, reading: ArchiveReading, state: { readonly isInner: boolean; readonly done: Done }): Promise<void> {
  const { isInner, done } = state;
  const handle = await open(path, "r");
  try {
    for await (const entries of readZipEntries(handle, LIMITS)) {
      for (const entry of entries) {
        if (entry.name.endsWith(".zip")) {
          if (isInner) throw new ZipError("unsupported", "it is an archive in an archive in an archive");
          await pipeline(readZipContent(handle, entry), createWriteStream(reading.scratch));
          await readArchive(reading.scratch, reading, { isInner: true, done });
        } else if (FEED_FILE.test(entry.name)) await readFile(handle, entry, { reading, done });
        if (!isInner) done.octets = entry.offset + entry.packedBytes;
        reading.onOctets(done.octets);
      }
    }
    if (!isInner) done.octets = (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

async function readFile(handle: FileHandle, entry: ZipEntry, { reading, done }: { readonly reading: ArchiveReading; readonly done: Done }): Promise<void> {
  const before = reading.sinks.tally.counts().records;
  let kind = done.kind;
  const onKind = (found: FeedKind) => {
    kind = found;
    reading.onKind(found);
  };
  const reader = kind === null ? createFileReader({ ...reading, onKind, isOfArchive: true }) : createRecordFileReader(kind, reading);
  for await (const chunk of readZipContent(handle, entry)) {
    done.unpacked += chunk.length;
    if (done.unpacked > MAX_UNPACKED_BYTES) throw new ZipError("too-large", "it unpacks to more than it may");
    reader.push(chunk);
  }
  const fault = reader.end();
  if (fault !== null && kind !== null && !RECORD_FILES.has(kind)) throw new BrokenFile(`${entry.name.slice(-80)}: ${fault}`);
  // A file of another kind, as a list of what has changed, counts as one that could not be read.
  if (reading.sinks.tally.counts().records === before) reading.sinks.tally.refused(NO_RECORD, 1);
  if (kind === null) return;
  done.recognized += 1;
  if (RECORD_FILES.has(kind)) done.kind = kind;
}
