import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { PcapRecorded } from "@lanthorn/contract/uplink";
import { createPcapngWriter } from "@lanthorn/packets";
import { nextTurn } from "@lanthorn/runtime";
import { type CaptureFileFacts, type CaptureNote, filePath, inParts, isWithoutFile, partPath, readNote, removeCaptureFile, writeNote } from "./facts.ts";
import { createContents, type FileContents } from "./file-contents.ts";
import type { Pace } from "../paced-work.ts";
import { type FileRead, readOwnFile } from "./own-file-reader.ts";

/** A file, read from end to end. */
export interface ReadContents {
  readonly contents: FileContents;
  readonly read: FileRead;
}

const CUT = "The probe's traffic process ended while this file was written; it has what was on the disk by then.";

/** Of a file of short frames these are three milliseconds of work. */
const CHUNK_BYTES = 128 * 1024;
const STOPPED = new Error("the repair was stopped");
const keepOn: Pace = () => nextTurn().then(() => true);

/** Reads a file of ours from end to end, in pieces, and makes its summary anew. @throws NodeJS.ErrnoException where it cannot be read. */
export async function readFileContents(path: string, pace: Pace = keepOn): Promise<ReadContents> {
  const file = await open(path, "r");
  try {
    return await readContents(file, pace);
  } finally {
    await file.close();
  }
}

async function readContents(file: FileHandle, pace: Pace): Promise<ReadContents> {
  const contents = createContents();
  const read = await readOwnFile(file, {
    onPacket: (frame) => contents.add(frame, frame.position),
    chunkBytes: CHUNK_BYTES,
    async afterChunk() {
      if (!(await pace())) throw STOPPED;
      return true;
    },
  });
  return { contents, read };
}

/**
 * Cuts a file behind its last whole block and says in it that it was cut. What it lacks of statistics is written, counting as received
 * what is in the file.
 * @param path The file, under the name that it was written under.
 * @returns Null where there is nothing in it.
 */
export async function repairPart(path: string, pace: Pace = keepOn): Promise<ReadContents | null> {
  const file = await open(path, "r+");
  try {
    const found = await readContents(file, pace);
    const { packets, firstAt, lastAt } = found.contents;
    if (packets === 0) return null;
    await file.truncate(found.read.wholeBytes);
    if (!found.read.isFinished) {
      const [at, startedAt] = [inParts(lastAt ?? 0), inParts(firstAt ?? 0)];
      const end = createPcapngWriter({ interfaces: [] }).statistics({ at, startedAt, endedAt: at, received: packets, delivered: packets, comment: `cut: ${CUT}` });
      // Without room for it the file is as good.
      await file.write(end, 0, undefined, found.read.wholeBytes).catch(() => file.truncate(found.read.wholeBytes));
    }
    await file.sync();
    return found;
  } finally {
    await file.close();
  }
}

const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(json|json\.new|pcapng|pcapng\.part)$/;

/** A file that was there before anything was opened. */
export interface LeftFile {
  readonly id: string;
  /** Bytes of one that is to be repaired; 0 of another. */
  readonly bytes: number;
  readonly trigger: PcapRecorded["trigger"];
}

/** Finds what lies in a folder of finished files, oldest first. Call it before a file is opened there. @param onNote Called for each note that can be read. */
export async function findLeftFiles(folder: string, onNote: (note: CaptureNote) => void = () => {}): Promise<readonly LeftFile[]> {
  const names = await readdir(folder).catch(() => []);
  const ids = [...new Set(names.flatMap((name) => NAME.exec(name)?.[1] ?? []))].toSorted();
  const found: LeftFile[] = [];
  for (const id of ids) {
    const note = await readNote(folder, id);
    if (note) onNote(note);
    const bytes = note?.recorded.state === "recording" ? (await sizeOf(filePath(folder, id)) ?? await sizeOf(partPath(folder, id)) ?? 0) : 0;
    found.push({ id, bytes, trigger: note?.recorded.trigger ?? "request" });
  }
  return found;
}

/**
 * Puts in order what a crash left of a file: what was being written is cut behind its last whole block, or removed where it has no packet.
 * @returns What is there and was not reported yet, as what was repaired; a capture of which nothing is left as `failed`. Null for nothing
 * to say, or where it was stopped.
 * @throws NodeJS.ErrnoException as the file system says.
 */
export async function repairFile(folder: string, id: string, pace: Pace = keepOn): Promise<CaptureFileFacts | null> {
  try {
    return (await repairOne(folder, id, pace))[0] ?? null;
  } catch (error) {
    if (error === STOPPED) return null;
    throw error;
  }
}

const sizeOf = (path: string) => stat(path).then(({ size }) => size, () => null);

async function repairOne(folder: string, id: string, pace: Pace): Promise<readonly CaptureFileFacts[]> {
  const note = await readNote(folder, id);
  const [whole, part] = [await sizeOf(filePath(folder, id)), await sizeOf(partPath(folder, id))];
  // Nobody knows what a file without a note is about.
  if (note === null) {
    await removeCaptureFile(folder, id);
    return [];
  }
  const { recorded } = note;
  if (recorded.state !== "recording") {
    const isNoteAlone = isWithoutFile(recorded);
    if (whole === null && !isNoteAlone) await removeCaptureFile(folder, id);
    else if (!note.is_reported) return [{ path: whole === null || isNoteAlone ? null : filePath(folder, id), recorded }];
    return [];
  }
  const path = whole === null ? partPath(folder, id) : filePath(folder, id);
  const found = whole === null && part === null ? null : await repairPart(path, pace).catch((error: unknown) => {
    if (error === STOPPED) throw STOPPED;
    return null;
  });
  if (found === null) {
    await removeCaptureFile(folder, id);
    const failed: PcapRecorded = { ...recorded, state: "failed", detail: CUT, finished_at: recorded.started_at };
    await writeNote(folder, { recorded: failed, is_reported: false });
    return [{ path: null, recorded: failed }];
  }
  if (whole === null) await rename(path, filePath(folder, id));
  const { contents: { packets, firstAt, lastAt, summary }, read: { isFinished, received, droppedByKernel } } = found;
  const repaired: PcapRecorded = {
    ...recorded, ...(await measure(filePath(folder, id), pace)), state: isFinished ? "whole" : "cut", detail: isFinished ? "" : CUT, packets,
    started_at: new Date(firstAt ?? 0).toISOString(), finished_at: new Date(lastAt ?? 0).toISOString(), summary: summary?.read() ?? null,
    counters: { received: Math.max(received, packets), dropped_by_kernel: droppedByKernel, dropped_by_probe: 0, left_out: 0 },
  };
  await writeNote(folder, { recorded: repaired, is_reported: false });
  return [{ path: filePath(folder, id), recorded: repaired }];
}

async function measure(path: string, pace: Pace): Promise<Pick<PcapRecorded, "size_bytes" | "sha256">> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 4 * CHUNK_BYTES })) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (!(await pace())) throw STOPPED;
  }
  return { size_bytes: bytes, sha256: hash.digest("hex") };
}

/** The folder of finished files: evidence, captures on demand and exports. */
export const filesFolder = (dataDir: string) => join(dataDir, "captures", "files");
