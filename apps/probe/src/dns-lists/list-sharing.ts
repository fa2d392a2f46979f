import { join } from "node:path";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { BLOCK_LISTS } from "../bundles/names.ts";
import { openBundleStore } from "../bundles/store.ts";
import { shareVersion } from "./shared-folder.ts";

/** Keeps what the resolver reads at the version that the probe holds. */
export interface ListSharing {
  /** Another version may be held now. */
  changed(): void;
  close(): Promise<void>;
}

/** A disk that is full may have room again. */
const RETRY_MS = 60_000;

/** Begins at once: whoever was killed in the middle left the version before. */
export function createListSharing({ dataDir, directory, clock, log }: { readonly dataDir: string; readonly directory: string; readonly clock: Pick<Clock, "after">; readonly log: Log }): ListSharing {
  let running: Promise<void> | null = null;
  let [isAgain, isClosed] = [false, false];
  let cancelRetry = () => {};
  const share = async () => {
    try {
      if (await shareVersion(openBundleStore(dataDir, BLOCK_LISTS), join(dataDir, BLOCK_LISTS), directory)) log.info({ directory }, "left block lists for the resolver");
    } catch (error) {
      log.error({ directory, reason: describeError(error) }, "block lists could not be left for the resolver, which keeps those before; trying again in a minute");
      if (!isClosed) cancelRetry = clock.after(RETRY_MS, begin);
    }
    running = null;
    if (isAgain) begin();
  };
  function begin(): void {
    cancelRetry();
    if (isClosed) return;
    isAgain = running !== null;
    if (running) return;
    running = share();
  }
  begin();
  return {
    changed: begin,
    async close() {
      isClosed = true;
      cancelRetry();
      await running;
    },
  };
}
