import { type Clock, describeError, type Log, nextTurn, pause } from "@lanthorn/runtime";
import { type CaptureFileFacts, removeCaptureFile } from "../capture-files/facts.ts";
import { type LeftFile, repairFile } from "../capture-files/repair.ts";
import type { DiskRoom } from "../capture-files/disk-room.ts";

/** Files that an earlier process left, which are put in order while traffic is read. */
export interface LeftFiles {
  /** It is deleted: nothing of it is kept or reported. @returns Whether it is still to be put in order. */
  drop(id: string): boolean;
  /** Stops: what is not yet in order is left to the next start. */
  close(): Promise<void>;
}

/** Work of one turn or a few, and the rest after it: a fifth of the time at most is for this. */
const WORK_MS = 5;
const REST_FACTOR = 4;
const BUSY_LOAD = 0.25;
const BUSY_PAUSE_MS = 100;

/**
 * Reads what is left, however much it is, a piece at a time. Its bytes are in the budget from the start.
 * @param deps.load How much there is to do, 0 to 1: while it is high, this waits.
 */
export function repairLeftFiles(deps: {
  readonly folder: string; readonly left: readonly LeftFile[]; readonly roomOf: (trigger: LeftFile["trigger"]) => DiskRoom; readonly load: () => number;
  readonly onRepaired: (facts: CaptureFileFacts) => void; readonly clock: Clock; readonly log: Pick<Log, "error">;
}): LeftFiles {
  const { folder, clock, log } = deps;
  const waiting = new Map(deps.left.map((file) => [file.id, file]));
  const dropped = new Set<string>();
  let isClosed = false;
  let stop = () => {};
  const closing = new Promise<void>((resolve) => {
    stop = resolve;
  });
  let workedFrom = clock.monotonic();
  for (const { trigger, bytes } of deps.left) deps.roomOf(trigger).added(bytes);

  async function untilCalm(): Promise<void> {
    if (isClosed || deps.load() < BUSY_LOAD) return;
    await Promise.race([pause(clock, BUSY_PAUSE_MS), closing]);
    return untilCalm();
  }

  async function pace(): Promise<boolean> {
    await nextTurn();
    const worked = clock.monotonic() - workedFrom;
    if (worked >= WORK_MS && !isClosed) await Promise.race([pause(clock, worked * REST_FACTOR), closing]);
    await untilCalm();
    workedFrom = clock.monotonic();
    return !isClosed;
  }

  async function repair({ id, bytes, trigger }: LeftFile): Promise<void> {
    const facts = await repairFile(folder, id, pace).catch((error: unknown) => {
      log.error({ pcap_id: id, reason: describeError(error) }, "a capture file of an earlier process cannot be put in order");
      return null;
    });
    if (isClosed) return;
    waiting.delete(id);
    deps.roomOf(trigger).removed(bytes);
    if (dropped.delete(id)) return removeCaptureFile(folder, id);
    if (!facts) return;
    // One that was whole before is counted with those that are.
    if (bytes > 0 && facts.path !== null) deps.roomOf(trigger).added(facts.recorded.size_bytes);
    deps.onRepaired(facts);
  }

  async function run(): Promise<void> {
    for (const file of deps.left) if (!isClosed) await repair(file);
  }

  const running = run().catch((error: unknown) => log.error({ reason: describeError(error) }, "what an earlier process left cannot be put in order"));
  return {
    drop(id) {
      if (!waiting.has(id)) return false;
      dropped.add(id);
      return true;
    },
    async close() {
      isClosed = true;
      stop();
      await running;
    },
  };
}
