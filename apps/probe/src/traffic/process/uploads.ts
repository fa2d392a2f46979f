import { describeError, type Log } from "@lanthorn/runtime";
import { handOver } from "../capture-files/hand-over.ts";
import type { Spool } from "../../files/spool.ts";

/** Finished files on their way to the collector. */
export interface Uploads {
  /** Gives a file to those that the daemon sends, now or when there is room among them. */
  want(id: string): void;
  /** Whether a file is already among those that the daemon sends. */
  isSent(id: string): Promise<boolean>;
  /** Tries again what did not fit. */
  tick(): void;
  /** Does not send it after all. */
  remove(id: string): Promise<void>;
}

/**
 * @param deps.spool Shared with the daemon, which sends what is in it.
 * @param deps.onGone A file lies there now, and no more among those that are kept here.
 */
export function createUploads(deps: {
  readonly spool: Pick<Spool, "add" | "find" | "remove">; readonly dataDir: string; readonly onGone: (id: string) => void; readonly log: Pick<Log, "info" | "warn">;
}): Uploads {
  const { spool, dataDir, log } = deps;
  const waiting = new Set<string>();
  let isRunning = false;
  let lastReason = "";

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    for (const id of waiting) {
      try {
        const isThere = await handOver({ spool, dataDir, id });
        // It was deleted meanwhile, before it lay where `remove` looks.
        if (!waiting.delete(id)) await spool.remove(id);
        else if (isThere) log.info({ pcap_id: id }, "a capture file goes to the collector");
        if (isThere) deps.onGone(id);
        lastReason = "";
      } catch (error) {
        const reason = describeError(error);
        // It may be full for days: one line for each new reason.
        if (reason !== lastReason) log.warn({ pcap_id: id, reason }, "a capture file cannot be given to those that are sent; trying again");
        lastReason = reason;
      }
    }
    isRunning = false;
  }

  return {
    want(id) {
      waiting.add(id);
      void run();
    },
    isSent: async (id) => (await spool.find(id)) !== null,
    tick: () => void (waiting.size > 0 && run()),
    async remove(id) {
      waiting.delete(id);
      await spool.remove(id);
    },
  };
}
