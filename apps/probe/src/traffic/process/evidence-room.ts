import type { Clock, Log } from "@lanthorn/runtime";
import type { DiskRoom } from "../capture-files/disk-room.ts";
import type { IsMeant, StoredFiles } from "./stored-files.ts";

/** The budget of evidence, in fair shares of those whom it is about: alerts that somebody raises again and again must not push out what was there about others. */
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

/** @param deps.room Makes no room by itself. */
export function createEvidenceRoom(deps: {
  readonly room: DiskRoom; readonly stored: Pick<StoredFiles, "bytesBySubject" | "removeOf">; readonly isMeant: IsMeant; readonly clock: Pick<Clock, "now">;
  readonly log: Pick<Log, "warn">;
}): EvidenceRoom {
  const { room, stored, isMeant, clock, log } = deps;
  const open = new Map<string, { readonly subject: string; bytes: number; hasGivenWay: boolean }>();
  let gaveWay = 0;

  /** @returns Whether a file was removed for one of this subject. */
  async function makeRoom(id: string, subject: string): Promise<boolean> {
    const sums = stored.bytesBySubject(isMeant);
    const [loudest, most] = [...sums].reduce<readonly [string, number]>((one, other) => (other[1] > one[1] ? other : one), ["", 0]);
    const written = [...open.values()].filter((file) => file.subject === subject).reduce((sum, { bytes }) => sum + bytes, 0);
    const isLoudest = written + (sums.get(subject) ?? 0) >= most;
    const bytes = isLoudest ? await stored.removeOf(subject, isMeant, clock.now() - HELD_MS) : await stored.removeOf(loudest, isMeant);
    if (bytes !== null) {
      room.removed(bytes);
      log.warn({ pcap_id: id, subject: isLoudest ? subject : loudest, bytes }, "evidence was removed: its subject takes most of the budget, and another file needs room");
      return true;
    }
    const own = open.get(id);
    if (own && !own.hasGivenWay) {
      own.hasGivenWay = true;
      gaveWay += 1;
      log.warn({ pcap_id: id, subject }, "a file of evidence ends early: no other subject takes more of the budget than its own");
    }
    return false;
  }

  return {
    get gaveWay() {
      return gaveWay;
    },
    finished: (id) => void open.delete(id),
    of(id, subject) {
      const own = { subject, bytes: 0, hasGivenWay: false };
      open.set(id, own);
      return {
        async claim(bytes) {
          let why = await room.claim(bytes);
          for (let round = 0; why !== null && round < MAX_ROUNDS && await makeRoom(id, subject); round += 1) why = await room.claim(bytes);
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
