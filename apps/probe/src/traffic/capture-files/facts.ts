import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PcapRecorded } from "@lanthorn/contract/uplink";
import { parseJson } from "@lanthorn/runtime";
import * as z from "zod";

/** What lies beside a capture file, in `<id>.json`: what is reported of it, and whether it was. */
export const CaptureNote = z.object({
  recorded: PcapRecorded,
  /** The daemon has put it into its queue. */
  is_reported: z.boolean(),
  /** The collector has asked for the file. Notes of earlier versions do not say. */
  is_wanted: z.boolean().optional(),
});
export type CaptureNote = z.infer<typeof CaptureNote>;

/** A capture file and what is known of it. */
export interface CaptureFileFacts {
  /** Where the file is; null where nothing came of it. */
  readonly path: string | null;
  readonly recorded: PcapRecorded;
}

/** Where a finished file is. */
export const filePath = (folder: string, id: string) => join(folder, `${id}.pcapng`);
/** Where it is until then. */
export const partPath = (folder: string, id: string) => `${filePath(folder, id)}.part`;
const notePath = (folder: string, id: string) => join(folder, `${id}.json`);

/** Puts a note in the place of an older one at once. @throws NodeJS.ErrnoException as the file system says. */
export async function writeNote(folder: string, note: CaptureNote): Promise<void> {
  const path = notePath(folder, note.recorded.pcap_id);
  await writeFile(`${path}.new`, JSON.stringify(note), { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

/** @returns Null where there is none, or one that cannot be read. */
export async function readNote(folder: string, id: string): Promise<CaptureNote | null> {
  const text = await readFile(notePath(folder, id), "utf8").catch(() => "");
  return CaptureNote.safeParse(parseJson(text)).data ?? null;
}

/** Changes of notes that go on, by their path: each begins when the one before has ended. */
const changing = new Map<string, Promise<unknown>>();

/** Changes a note by what is in it: two that read it at once would lose one's change. */
async function inTurn<T>(path: string, change: () => Promise<T>): Promise<T> {
  const before = changing.get(path) ?? Promise.resolve();
  const done = before.then(change, change);
  changing.set(path, done);
  try {
    return await done;
  } finally {
    if (changing.get(path) === done) changing.delete(path);
  }
}

/** Notes that the daemon has this file's facts, so that they are not reported again after the next start. Where there is no file, nothing is left. */
export function markReported(folder: string, id: string): Promise<void> {
  return inTurn(notePath(folder, id), async () => {
    const note = await readNote(folder, id);
    if (note && isWithoutFile(note.recorded)) await removeCaptureFile(folder, id);
    else if (note) await writeNote(folder, { ...note, is_reported: true });
  });
}

/** Notes that the collector has asked for this file, so that it is sent after the next start too. */
export function markWanted(folder: string, id: string): Promise<void> {
  return inTurn(notePath(folder, id), async () => {
    const note = await readNote(folder, id);
    if (note && !note.is_wanted) await writeNote(folder, { ...note, is_wanted: true });
  });
}

/** Whether nothing came of it, or nothing is left: what there is to say of it is its note alone. */
export function isWithoutFile({ state }: Pick<PcapRecorded, "state">): boolean {
  return state === "failed" || state === "removed";
}

/**
 * Removes a finished file that was not sent, for its age or for the room. Its note says so until the daemon has it.
 * @param why In words.
 * @returns What is to be reported; null where nobody knows what the file was.
 */
export function removeForRoom(folder: string, id: string, why: string): Promise<PcapRecorded | null> {
  return inTurn(notePath(folder, id), async () => {
    const note = await readNote(folder, id);
    const recorded = note && { ...note.recorded, state: "removed" as const, detail: why };
    // On a disk that takes nothing, room is what matters: then it is said only as long as this process lives.
    const isNoted = recorded !== null && await writeNote(folder, { recorded, is_reported: false }).then(() => true, () => false);
    if (isNoted) await rm(filePath(folder, id), { force: true });
    else await removeCaptureFile(folder, id);
    return recorded;
  });
}

/** Takes away a file with all that belongs to it; what is not there is no fault. */
export async function removeCaptureFile(folder: string, id: string): Promise<void> {
  for (const path of [notePath(folder, id), `${notePath(folder, id)}.new`, partPath(folder, id), filePath(folder, id)]) await rm(path, { force: true });
}

/** @param ms Since the epoch. @returns The same as a capture file has it. */
export function inParts(ms: number): { readonly seconds: number; readonly nanoseconds: number } {
  const seconds = Math.floor(ms / 1000);
  return { seconds, nanoseconds: Math.floor((ms - seconds * 1000) * 1e6) };
}
