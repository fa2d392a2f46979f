import { readdir } from "node:fs/promises";
import type { PcapRecorded } from "@lanthorn/contract/uplink";
import { isWithoutFile, readNote, removeForRoom } from "../capture-files/facts.ts";

/** Finished files that lie on this machine, for their budgets. */
export interface StoredFiles {
  /** Bytes of all files of a kind. */
  bytesOf(isMeant: IsMeant): number;
  isOf(id: string, isMeant: IsMeant): boolean;
  add(recorded: PcapRecorded): void;
  /** Removes the oldest one of a kind, for newer ones. @returns Its bytes; null where there is none. */
  removeOldest(isMeant: IsMeant): Promise<number | null>;
  /** Bytes by whom the files are about. */
  bytesBySubject(isMeant: IsMeant): Map<string, number>;
  /**
   * Removes the newest one about somebody, for another's evidence; or the oldest that was finished before, where that is given, for its own.
   * @returns Its bytes; null where there is none.
   */
  removeOf(subject: string, isMeant: IsMeant, finishedBefore?: number): Promise<number | null>;
  /** Removes those of a kind that were finished before, milliseconds since the epoch. @returns Their bytes. */
  removeFinishedBefore(time: number, isMeant: IsMeant): Promise<number>;
  /** Those of which the daemon had all that there is to say, when they were read. */
  readonly reported: readonly string[];
  /** It was removed by somebody else. @returns Its bytes; 0 where it was not known. */
  forget(id: string): number;
}

/** Which kind a file is of. */
export type IsMeant = (recorded: Pick<PcapRecorded, "trigger">) => boolean;

type StoredFile = Pick<PcapRecorded, "trigger" | "size_bytes" | "finished_at" | "macs" | "ips">;

/** Whom a file is about, in one word: the device of its first alert. */
export const subjectOf = ({ macs, ips }: { readonly macs: readonly string[]; readonly ips: readonly string[] }) => macs[0] ?? ips[0] ?? "";

const NOTE = /^([0-9a-f-]{36})\.json$/;

const FOR_NEWER = "The probe removed the file to make room for newer captures.";
const FOR_OTHERS = "The probe removed the file to make room for evidence about another device: this device's takes most of it.";
const FOR_OWN = "The probe removed the file to make room for newer evidence about the same device.";
const TOO_OLD = "The probe removed the file because it was older than keep_days in its configuration.";

/**
 * @param folder Of finished files.
 * @param onRemoved What is to be reported of one that was removed here before it was sent.
 */
export async function readStoredFiles(folder: string, onRemoved: (recorded: PcapRecorded) => void): Promise<StoredFiles> {
  const files = new Map<string, StoredFile>();
  const reported: string[] = [];
  const names = await readdir(folder).catch(() => [] as string[]);
  // Ids begin with the time at which they were made.
  for (const name of names.toSorted()) {
    const id = NOTE.exec(name)?.[1];
    const note = id === undefined ? null : await readNote(folder, id);
    if (id !== undefined && note && note.recorded.size_bytes > 0 && !isWithoutFile(note.recorded)) {
      files.set(id, note.recorded);
      if (note.is_reported) reported.push(id);
    }
  }
  const remove = async (id: string, why: string): Promise<number> => {
    const file = files.get(id);
    const bytes = forget(id);
    const recorded = await removeForRoom(folder, id, why).catch((error: unknown) => {
      // It still takes its room, and is tried again behind all others.
      if (file) files.set(id, file);
      throw error;
    });
    if (recorded) onRemoved(recorded);
    return bytes;
  };
  const forget = (id: string): number => {
    const bytes = files.get(id)?.size_bytes ?? 0;
    files.delete(id);
    return bytes;
  };
  return {
    forget,
    isOf: (id, isMeant) => files.has(id) && isMeant(files.get(id) as StoredFile),
    bytesOf: (isMeant) => [...files.values()].filter((file) => isMeant(file)).reduce((sum, { size_bytes: bytes }) => sum + bytes, 0),
    add: ({ pcap_id: id, trigger, size_bytes, finished_at, macs, ips }) => void files.set(id, { trigger, size_bytes, finished_at, macs: macs.slice(0, 1), ips: ips.slice(0, 1) }),
    bytesBySubject(isMeant) {
      const sums = new Map<string, number>();
      for (const file of files.values()) if (isMeant(file)) sums.set(subjectOf(file), (sums.get(subjectOf(file)) ?? 0) + file.size_bytes);
      return sums;
    },
    async removeOf(subject, isMeant, finishedBefore) {
      const own = [...files].filter(([, file]) => isMeant(file) && subjectOf(file) === subject);
      const found = finishedBefore === undefined ? own.at(-1) : own.find(([, file]) => Date.parse(file.finished_at ?? "") < finishedBefore);
      return found ? remove(found[0], finishedBefore === undefined ? FOR_OTHERS : FOR_OWN) : null;
    },
    reported,
    async removeOldest(isMeant) {
      const id = [...files].find(([, file]) => isMeant(file))?.[0];
      return id === undefined ? null : remove(id, FOR_NEWER);
    },
    async removeFinishedBefore(time, isMeant) {
      let bytes = 0;
      for (const [id, file] of files) if (isMeant(file) && Date.parse(file.finished_at ?? "") < time) bytes += await remove(id, TOO_OLD);
      return bytes;
    },
  };
}
