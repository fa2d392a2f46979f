import { type Clock, nextTurn, toInstant } from "@lanthorn/runtime";
import type { QuerySettingsStore } from "./settings-store.ts";
import type { QueriesStore } from "./store.ts";

const DAY_MS = 86_400_000;
const FORGOTTEN_AT_ONCE = 500;

/**
 * Forgets queries whose days are over: those of the collector, and of sites that keep them for a shorter time.
 * @returns How many rows went.
 */
export async function forgetQueries({ store, settings, keepDays, clock }: {
  readonly store: Pick<QueriesStore, "forget">; readonly settings: Pick<QuerySettingsStore, "withDays">; readonly keepDays: number; readonly clock: Pick<Clock, "now">;
}, stopped: AbortSignal): Promise<number> {
  let total = 0;
  for (const { siteId, days } of [{ siteId: null, days: keepDays }, ...(await settings.withDays()).map((one) => ({ siteId: one.siteId, days: one.keepDays }))]) {
    if (days > keepDays) continue;
    for (let gone = FORGOTTEN_AT_ONCE; gone === FORGOTTEN_AT_ONCE;) {
      if (stopped.aborted) return total;
      gone = await store.forget({ before: toInstant(clock.now() - days * DAY_MS), siteId, limit: FORGOTTEN_AT_ONCE });
      total += gone;
      await nextTurn();
    }
  }
  return total;
}
