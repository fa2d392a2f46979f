import type { PcapRecorded } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import { createDiskRoom, type DiskRoom, type FreeSpace } from "../../capture-files/disk-room.ts";
import { fromMegabytes, type TrafficSettings } from "../../settings.ts";
import { createEvidenceRoom } from "./evidence-room.ts";
import type { IsMeant, StoredFiles } from "./stored-files.ts";

/** What finished files may take on the disk: evidence apart from what was asked for. */
export interface FileRooms {
  of(trigger: PcapRecorded["trigger"]): DiskRoom;
  /** The room of a file that is to be written. @param subject Whom it is about. */
  forFile(trigger: PcapRecorded["trigger"], id: string, subject: string): DiskRoom;
  /** The file has ended. */
  finished(id: string): void;
  /** Files of evidence that ended early for others' sake, in words; null for none. */
  problem(): string | null;
  /** A file is not among those that lie here any more: its bytes are free again. */
  forget(id: string): void;
  /** Removes what is older than the settings keep. */
  removeOld(now: number): Promise<void>;
}

const DAY_MS = 86_400_000;
/** As many files of a kind lie here at most: at the start the note of each is read, and to make room all are gone through. */
const MAX_FILES = 4096;

/** What the smallest file counts for. */
export function leastBytesOf({ evidence, on_demand: onDemand }: Pick<TrafficSettings, "evidence" | "on_demand">, trigger: PcapRecorded["trigger"]): number {
  return fromMegabytes((trigger === "alert" ? evidence : onDemand).budget_megabytes) / MAX_FILES;
}

const ofAlerts: IsMeant = ({ trigger }) => trigger === "alert";
const ofRequests: IsMeant = ({ trigger }) => trigger !== "alert";

/** @param deps.stored The files, whose oldest ones make room. */
export function createFileRooms({ free, settings: { evidence, on_demand: onDemand }, stored, clock, log }: {
  readonly free: FreeSpace; readonly settings: Pick<TrafficSettings, "evidence" | "on_demand">; readonly stored: StoredFiles;
  readonly clock: Pick<Clock, "now">; readonly log: Pick<Log, "warn">;
}): FileRooms {
  const roomFor = (isMeant: IsMeant, megabytes: number): DiskRoom => {
    const room: DiskRoom = createDiskRoom({
      free, budgetBytes: fromMegabytes(megabytes), usedBytes: stored.bytesOf(isMeant),
      async makeRoom() {
        const bytes = await stored.removeOldest(isMeant);
        if (bytes !== null) room.removed(bytes);
        return bytes !== null;
      },
    });
    return room;
  };
  const budgetBytes = fromMegabytes(evidence.budget_megabytes);
  const evidenceRoom = createDiskRoom({ free, budgetBytes, usedBytes: stored.bytesOf(ofAlerts) });
  const shares = createEvidenceRoom({ room: evidenceRoom, budgetBytes, stored, clock, log });
  const kinds = [
    { isMeant: ofAlerts, room: evidenceRoom, keepMs: evidence.keep_days * DAY_MS },
    { isMeant: ofRequests, room: roomFor(ofRequests, onDemand.budget_megabytes), keepMs: onDemand.keep_days * DAY_MS },
  ] as const;
  return {
    of: (trigger) => kinds[trigger === "alert" ? 0 : 1].room,
    forFile: (trigger, id, subject) => (trigger === "alert" ? shares.of(id, subject) : kinds[1].room),
    finished: shares.finished,
    problem: () => (shares.gaveWay === 0 ? null
      : `${shares.gaveWay} files of evidence ended early: their devices already take most of budget_megabytes under [traffic.evidence]`),
    forget(id) {
      const kind = kinds.find(({ isMeant }) => stored.isOf(id, isMeant));
      kind?.room.removed(stored.forget(id));
    },
    async removeOld(now) {
      for (const { isMeant, room, keepMs } of kinds) room.removed(await stored.removeFinishedBefore(now - keepMs, isMeant));
    },
  };
}
