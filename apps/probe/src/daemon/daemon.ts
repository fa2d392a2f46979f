import { createServiceManager, describeError } from "@lanthorn/runtime";
import { codesOf } from "../error-codes.ts";
import { classifyStorageFault } from "../queue/storage-faults.ts";
import { type Round, startRound } from "./round.ts";
import type { DaemonDeps, Inheritance, RoundEnd } from "./parts/round-context.ts";

/** A full disk at the start is waited for; it is looked at this often. */
const STORAGE_RETRY_MS = 10_000;
const STATUS_LINE_MS = 30_000;

/**
 * Runs the probe until it is stopped. A database that turns out damaged while it is in use ends a round, and the
 * next one begins with a new file; everything else goes on within one.
 * @param options.stop Resolves when the daemon is to end.
 * @param options.onReady Called once, when everything is wired.
 * @throws ProbeError when it cannot begin, or can no longer do its work: `missing-capability`, `already-running`, `storage-unavailable`.
 */
export async function runDaemon(deps: DaemonDeps, options: {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stop: Promise<unknown>;
  readonly onReady: () => void;
}): Promise<void> {
  const { clock, log } = deps;
  let round: Round | null = null;
  const manager = createServiceManager({ environment: options.environment, clock, log, alive: () => round?.alive() ?? true });
  const stopped = options.stop.then((): RoundEnd => ({ kind: "stopped" }));
  const stopStatus = clock.every(STATUS_LINE_MS, () => round && manager.status(round.describe()));
  let isReady = false;
  let end: RoundEnd | null = null;
  let inheritance: Inheritance | null = null;
  try {
    while (end === null || end.kind === "corrupt") {
      round = await startWhenPossible(deps, inheritance, stopped);
      if (!round) return;
      if (!isReady) {
        isReady = true;
        options.onReady();
        manager.ready(round.describe());
      }
      end = await Promise.race([round.ended, stopped]);
      if (end.kind === "corrupt") inheritance = { reason: end.reason, carry: round.unwritten() };
      else await manager.stopping();
      await round.stop();
    }
  } finally {
    stopStatus();
    manager.close();
  }
  if (end.kind === "failed") throw end.error;
}

/** @returns Null when the daemon was stopped before there was room on the disk. */
async function startWhenPossible(deps: DaemonDeps, from: Inheritance | null, stopped: Promise<RoundEnd>): Promise<Round | null> {
  let inheritance = from;
  for (;;) {
    try {
      return await startRound(deps, inheritance);
    } catch (error) {
      // Damage that the check at opening did not reach; a file made anew that is damaged again is the disk's fault.
      if (classifyStorageFault(error) === "corrupt" && inheritance === from) {
        inheritance = { reason: describeError(error), carry: from?.carry ?? [] };
      } else if (isFullDisk(error)) deps.log.error({ reason: describeError(error) }, "the disk is full; waiting for free space");
      else throw error;
    }
    if (inheritance !== from) continue;
    let cancel = () => {};
    const retry = new Promise<null>((resolve) => {
      cancel = deps.clock.after(STORAGE_RETRY_MS, () => resolve(null));
    });
    const ended = await Promise.race([retry, stopped]);
    cancel();
    if (ended) return null;
  }
}

/** Time heals this; it does not heal a missing right or a wrong path. */
function isFullDisk(error: unknown): boolean {
  return codesOf(error).some((code) => code === "ENOSPC" || code === "EDQUOT" || code === "SQLITE_FULL" || code.startsWith("SQLITE_IOERR"));
}
