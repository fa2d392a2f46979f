import type { Clock, Log } from "@lanthorn/runtime";
import type { DiskRoom } from "../../capture-files/disk-room.ts";
import { MAX_NEW_A_DAY } from "./evidence-shares.ts";
import type { StoredFiles } from "./stored-files.ts";

/**
 * The budget of evidence, in fair shares of those whom it is about: alerts that somebody raises again and again, under one address or under many,
 * must not push out what was there about others.
 */
export interface EvidenceRoom {
  /** The room of one file. @param subject Whom it is about. */
  of(id: string, subject: string): DiskRoom;
  /** The file has ended: what it takes is among the stored ones. */
  finished(id: string): void;
  /** Files that were cut because their subject already takes more than any other. */
  readonly gaveWay: number;
}

/** Evidence of the same subject that is older makes room for newer. */
const HELD_MS = 86_400_000;
const MAX_ROUNDS = 64;
/** The first evidence about somebody goes for nobody else's for a day, where it is no larger than this part of the budget: of a day's new shares these take half of it. */
const FIRST_PART = 2 * MAX_NEW_A_DAY;

/** @param deps.room Makes no room by itself. */
export function createEvidenceRoom(deps: {
  readonly room: DiskRoom; readonly budgetBytes: number; readonly stored: Pick<StoredFiles, "shareOf" | "bytesByShare" | "removeNewestOf" | "removeOldestOf">;
  readonly clock: Pick<Clock, "now">; readonly log: Pick<Log, "warn">;
}): EvidenceRoom {
  const { room, stored, clock, log } = deps;
  const smallBytes = deps.budgetBytes / FIRST_PART;
  const open = new Map<string, { readonly share: string; bytes: number; hasGivenWay: boolean }>();
  let gaveWay = 0;

  /** Removes a file for one of this share. @returns Whose, and its bytes; null where none is to go. */
  async function remove(share: string): Promise<{ readonly of: string; readonly bytes: number } | null> {
    const since = clock.now() - HELD_MS;
    const sums = stored.bytesByShare();
    const own = [...open.values()].filter((file) => file.share === share).reduce((sum, { bytes }) => sum + bytes, sums.get(share) ?? 0);
    const louder = [...sums].filter(([other, bytes]) => other !== share && bytes > own).toSorted((one, other) => other[1] - one[1]);
    for (const [of] of louder) {
      const bytes = await stored.removeNewestOf(of, { since, smallBytes });
      if (bytes !== null) return { of, bytes };
    }
    const bytes = await stored.removeOldestOf(share, since);
    return bytes === null ? null : { of: share, bytes };
  }

  /** @returns Whether a file was removed for one of this share. */
  async function makeRoom(id: string, share: string): Promise<boolean> {
    const removed = await remove(share);
    if (removed !== null) {
      room.removed(removed.bytes);
      log.warn({ pcap_id: id, share: removed.of, bytes: removed.bytes }, "evidence was removed: its device takes most of the budget, and another file needs room");
      return true;
    }
    const own = open.get(id);
    if (own && !own.hasGivenWay) {
      own.hasGivenWay = true;
      gaveWay += 1;
      log.warn({ pcap_id: id, share }, "a file of evidence ends early: no other device takes more of the budget than its own");
    }
    return false;
  }

  return {
    get gaveWay() {
      return gaveWay;
    },
    finished: (id) => void open.delete(id),
    of(id, subject) {
      const share = stored.shareOf(subject, clock.now());
      const own = { share, bytes: 0, hasGivenWay: false };
      open.set(id, own);
      return {
        async claim(bytes) {
          let why = await room.claim(bytes);
          for (let round = 0; why !== null && round < MAX_ROUNDS && await makeRoom(id, share); round += 1) why = await room.claim(bytes);
          if (why === null) own.bytes += bytes;
          return why;
        },
        settle(claimed, written) {
          own.bytes -= claimed - written;
          room.settle(claimed, written);
        },
        removed(bytes) {
          own.bytes -= bytes;
          room.removed(bytes);
        },
        added: room.added,
        get usedBytes() {
          return room.usedBytes;
        },
      };
    },
  };
}
