import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { type CaptureFileFacts, removeCaptureFile } from "../capture-files/facts.ts";
import { type LeftFile, repairFile } from "../capture-files/repair.ts";
import type { DiskRoom } from "../capture-files/disk-room.ts";
import { createPacedWork } from "../paced-work.ts";

/** Files that an earlier process left, which are put in order while traffic is read. */
export interface LeftFiles {
  /** It is deleted: nothing of it is kept or reported. @returns Whether it is still to be put in order. */
  drop(id: string): boolean;
  /** Stops: what is not yet in order is left to the next start. */
  close(): Promise<void>;
}

/**
 * Reads what is left, however much it is, a piece at a time. Its bytes are in the budget from the start.
 * @param deps.load How much there is to do, 0 to 1: while it is high, this waits.
 */
export function repairLeftFiles(deps: {
  readonly folder: string; readonly left: readonly LeftFile[]; readonly roomOf: (trigger: LeftFile["trigger"]) => DiskRoom; readonly load: () => number;
  readonly onRepaired: (facts: CaptureFileFacts) => void; readonly clock: Clock; readonly log: Pick<Log, "error">;
}): LeftFiles {
  const { folder, log } = deps;
  const waiting = new Map(deps.left.map((file) => [file.id, file]));
  const dropped = new Set<string>();
  const work = createPacedWork(deps);
  for (const { trigger, bytes } of deps.left) deps.roomOf(trigger).added(bytes);

  async function repair({ id, bytes, trigger }: LeftFile): Promise<void> {
    const facts = await repairFile(folder, id, work.pace).catch((error: unknown) => {
      log.error({ pcap_id: id, reason: describeError(error) }, "a capture file of an earlier process cannot be put in order");
      return null;
    });
    if (work.isClosed) return;
    waiting.delete(id);
    deps.roomOf(trigger).removed(bytes);
    if (dropped.delete(id)) return removeCaptureFile(folder, id);
    if (!facts) return;
    // One that was whole before is counted with those that are.
    if (bytes > 0 && facts.path !== null) deps.roomOf(trigger).added(facts.recorded.size_bytes);
    deps.onRepaired(facts);
  }

  async function run(): Promise<void> {
    for (const file of deps.left) if (!work.isClosed) await repair(file);
  }

  const running = run().catch((error: unknown) => log.error({ reason: describeError(error) }, "what an earlier process left cannot be put in order"));
  return {
    drop(id) {
      if (!waiting.has(id)) return false;
      dropped.add(id);
      return true;
    },
    async close() {
      work.close();
      await running;
    },
  };
}
