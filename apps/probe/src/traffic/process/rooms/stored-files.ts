import type { PcapRecorded } from "@lanthorn/contract/uplink";
import { type CaptureNote, isWithoutFile, removeForRoom } from "../../capture-files/facts.ts";
import { createEvidenceShares } from "./evidence-shares.ts";

/** Finished files that lie on this machine, for their budgets. */
export interface StoredFiles {
  /** Bytes of all files of a kind. */
  bytesOf(isMeant: IsMeant): number;
  isOf(id: string, isMeant: IsMeant): boolean;
  /** A file has ended. @returns What it counts for beyond its bytes; 0 where it was known. */
  add(recorded: PcapRecorded): number;
  /** A note lay in the folder at the start: of a finished file or of anything else. */
  found(note: CaptureNote): void;
  /** Removes the oldest one of a kind, for newer ones. @returns Its bytes; null where there is none. */
  removeOldest(isMeant: IsMeant): Promise<number | null>;
  /** Whose share of evidence's budget a file counts in that begins now, at milliseconds since the epoch. */
  shareOf(subject: string, now: number): string;
  /** Bytes of evidence by share. */
  bytesByShare(): Map<string, number>;
  /**
   * Removes the newest evidence of a share, for another's; but not its first of the last day, if that is small.
   * @param options.since Of the last day.
   * @returns Its bytes; null where there is none.
   */
  removeNewestOf(share: string, options: { readonly since: number; readonly smallBytes: number }): Promise<number | null>;
  /** Removes the oldest evidence of a share that was finished before, for its own newer. @returns Its bytes; null where there is none. */
  removeOldestOf(share: string, finishedBefore: number): Promise<number | null>;
  /** Removes those of a kind that were finished before, milliseconds since the epoch. @returns Their bytes. */
  removeFinishedBefore(time: number, isMeant: IsMeant): Promise<number>;
  /** Those that were found of which the daemon has all that there is to say. */
  readonly reported: readonly string[];
  /** Those that were found that the collector has asked for. */
  readonly wanted: readonly string[];
  /** It was removed by somebody else. @returns Its bytes; 0 where it was not known. */
  forget(id: string): number;
}

/** Which kind a file is of. */
export type IsMeant = (recorded: Pick<PcapRecorded, "trigger">) => boolean;

interface StoredFile extends Pick<PcapRecorded, "trigger" | "finished_at"> {
  /** What it counts for: its bytes, or what the smallest file does. */
  readonly bytes: number;
  /** Of evidence's budget; "" for other files. */
  readonly share: string;
}

/** Whom a file is about, in one word: the device of its first alert. */
export const subjectOf = ({ macs, ips }: { readonly macs: readonly string[]; readonly ips: readonly string[] }) => macs[0] ?? ips[0] ?? "";

const FOR_NEWER = "The probe removed the file to make room for newer captures.";
const FOR_OTHERS = "The probe removed the file to make room for evidence about another device: this device's takes most of it.";
const FOR_OWN = "The probe removed the file to make room for newer evidence about the same device.";
const TOO_OLD = "The probe removed the file because it was older than keep_days in its configuration.";

/**
 * Knows of no file yet.
 * @param deps.folder Of finished files.
 * @param deps.onRemoved What is to be reported of one that was removed here before it was sent.
 * @param deps.leastBytes What the smallest file of a kind counts for, so that they are not too many to be gone through.
 */
export function createStoredFiles({ folder, onRemoved, leastBytes }: {
  readonly folder: string; readonly onRemoved: (recorded: PcapRecorded) => void; readonly leastBytes: (trigger: PcapRecorded["trigger"]) => number;
}): StoredFiles {
  const files = new Map<string, StoredFile>();
  const shares = createEvidenceShares({ isInUse: (share) => [...files.values()].some((file) => file.share === share) });
  const evidenceOf = (share: string) => [...files].filter(([, file]) => file.trigger === "alert" && file.share === share);
  const reported: string[] = [];
  const wanted: string[] = [];
  const add = ({ pcap_id: id, trigger, size_bytes: size, started_at: startedAt, finished_at: finishedAt, macs, ips }: PcapRecorded): number => {
    if (files.has(id)) return 0;
    const bytes = Math.max(size, leastBytes(trigger));
    const share = trigger === "alert" ? shares.of(subjectOf({ macs, ips }), Date.parse(startedAt ?? finishedAt ?? "") || 0) : "";
    files.set(id, { trigger, bytes, finished_at: finishedAt, share });
    return bytes - size;
  };
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
    const bytes = files.get(id)?.bytes ?? 0;
    files.delete(id);
    return bytes;
  };
  return {
    forget, add,
    found({ recorded, is_reported: isReported, is_wanted: isWanted }) {
      if (recorded.size_bytes === 0 || isWithoutFile(recorded)) return;
      add(recorded);
      if (isReported) reported.push(recorded.pcap_id);
      if (isWanted) wanted.push(recorded.pcap_id);
    },
    isOf: (id, isMeant) => files.has(id) && isMeant(files.get(id) as StoredFile),
    bytesOf: (isMeant) => [...files.values()].filter((file) => isMeant(file)).reduce((sum, { bytes }) => sum + bytes, 0),
    shareOf: shares.of,
    bytesByShare() {
      const sums = new Map<string, number>();
      for (const { trigger, share, bytes } of files.values()) if (trigger === "alert") sums.set(share, (sums.get(share) ?? 0) + bytes);
      return sums;
    },
    async removeNewestOf(share, { since, smallBytes }) {
      const own = evidenceOf(share);
      const [id, file] = own.at(-1) ?? [];
      const isKept = file === undefined || (own.length === 1 && file.bytes <= smallBytes && Date.parse(file.finished_at ?? "") >= since);
      return id === undefined || isKept ? null : remove(id, FOR_OTHERS);
    },
    async removeOldestOf(share, finishedBefore) {
      const [id] = evidenceOf(share).find(([, file]) => Date.parse(file.finished_at ?? "") < finishedBefore) ?? [];
      return id === undefined ? null : remove(id, FOR_OWN);
    },
    reported, wanted,
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
