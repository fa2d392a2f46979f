import type { Clock, Log } from "@lanthorn/runtime";
import { type RepeatedWork, repeatWork } from "../repeated-work.ts";

/** Forgets rows again and again. */
export type Scheduled = Pick<RepeatedWork<number>, "run" | "close">;

/**
 * @param options.what Of what is told in the log, as `old events`.
 * @param options.work To be ended at a good place when `stopped` is aborted. Gives how many rows went.
 */
export function schedule(
  deps: { readonly clock: Clock; readonly log: Log },
  options: { readonly what: string; readonly everyMs: number; readonly work: (stopped: AbortSignal) => Promise<number> },
): Scheduled {
  return repeatWork(deps, {
    everyMs: options.everyMs, failure: `${options.what} could not be forgotten, trying again later`,
    async work(stopped) {
      const rows = await options.work(stopped);
      if (rows > 0) deps.log.info({ rows }, `${options.what} forgotten`);
      return rows;
    },
  });
}
