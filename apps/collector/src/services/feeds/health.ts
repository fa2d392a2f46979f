import type { EventData, FEED_PROBLEMS } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { EventLog } from "../../events/log.ts";
import type { PartState } from "../../gateway/health.ts";
import type { LoadedData } from "./definition.ts";
import { newEvent } from "./running/run-update.ts";
import type { ConfiguredFeed } from "./source.ts";
import type { FeedRow, FeedsStore } from "./store.ts";

type Problem = (typeof FEED_PROBLEMS)[number];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** One failure is a source that was away for a moment. */
const MAX_FAILURES = 3;
/** Of sources that change weekly: older than so many intervals. */
const MAX_INTERVALS = 3;
/** Beyond it, what was exploited first has long been missed. */
const HIGH_AFTER_MS = 7 * DAY_MS;

const BY_CODE: Readonly<Record<string, Problem>> = { "too-few": "records", shrunken: "records", "fewer-configurations": "configurations" };

/** How long ago a feed's source last answered well, or the feed was first wanted. */
export function ageOf({ answered_at: answered, created_at: created }: FeedRow, now: number): number {
  return Math.max(0, now - Date.parse(answered ?? created));
}

/** What is wrong with a feed, in the order of the contract's list. @param at.loaded What was made of it; null while there is nothing. */
export function problemsOf(
  { intervalMs, definition }: ConfiguredFeed, row: FeedRow, at: { readonly now: number; readonly alertAfterMs: number; readonly loaded: LoadedData | null },
): readonly Problem[] {
  const isOld = ageOf(row, at.now) > Math.max(at.alertAfterMs, MAX_INTERVALS * intervalMs);
  // Parts that each lose little are no reason to refuse any of them; together they are.
  const lost = BY_CODE[row.error_code ?? ""] ?? (definition.mark.configured !== undefined && hasLost(at.loaded, definition.maxDropPercent) ? "configurations" : undefined);
  return [...(isOld ? ["age" as const] : []), ...(lost === undefined ? [] : [lost]), ...(row.failures >= MAX_FAILURES ? ["failures" as const] : [])];
}

function hasLost(loaded: LoadedData | null, maxDropPercent: number): boolean {
  return loaded !== null && loaded.configured < loaded.mostConfigured * (1 - maxDropPercent / 100);
}

/** Publishes how feeds are, where that has changed: it raises and ends their alerts. */
export interface FeedHealthWatch {
  check(): Promise<void>;
  /** How they were when they were last looked at. */
  state(): PartState;
}

/** @param options.operatorTenant Whose alerts they are: downloaded data is the same for all tenants. */
export function createFeedHealth(deps: {
  readonly store: FeedsStore; readonly clock: Pick<Clock, "now">; readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void; readonly loaded: () => LoadedData | null;
}, options: { readonly feeds: readonly ConfiguredFeed[]; readonly alertAfterMs: number; readonly operatorTenant: () => Promise<string | null> }): FeedHealthWatch {
  const { store, clock, log, published } = deps;
  let detail = "not looked at so far";

  const publish = async (row: FeedRow, tenantId: string, problems: readonly Problem[], data: EventData<"feed_health">) => {
    const appended = await store.transaction(async (trx) =>
      (await store.setReported(trx, row, problems.join(",")) ? log.append(trx, tenantId, [newEvent("feed_health", data, toInstant(clock.now()))]) : null));
    if (appended) published(tenantId, appended.fromSeq);
  };
  return {
    async check() {
      const now = clock.now();
      const rows = await store.list();
      const tenantId = await options.operatorTenant();
      const unwell: string[] = [];
      for (const row of rows) {
        const feed = options.feeds.find(({ definition }) => definition.name === row.name);
        const loaded = deps.loaded();
        const problems = feed ? problemsOf(feed, row, { now, alertAfterMs: options.alertAfterMs, loaded }) : [];
        const title = feed?.definition.title ?? row.name;
        if (problems.length > 0) unwell.push(title);
        if (problems.join(",") === row.reported || tenantId === null) continue;
        await publish(row, tenantId, problems, {
          feed: row.name, title, state: problems.length > 0 ? "raised" : "cleared", problems: [...problems],
          severity: ageOf(row, now) > HIGH_AFTER_MS ? "high" : "medium", message: describe(row, problems, { now, loaded }),
        });
      }
      detail = unwell.length > 0 ? `unreliable: ${unwell.join(", ")}` : options.feeds.length === 0 ? "disabled" : `${options.feeds.length} feeds`;
    },
    // Old data is worse than new data, and better than a collector that no load balancer sends anybody to.
    state: () => ({ status: "ok", detail }),
  };
}

function describe(row: FeedRow, problems: readonly Problem[], { now, loaded }: { readonly now: number; readonly loaded: LoadedData | null }): string {
  const age = ageOf(row, now);
  const old = age < 2 * DAY_MS ? `${Math.round(age / HOUR_MS)} hours` : `${Math.round(age / DAY_MS)} days`;
  const parts = problems.map((problem) => {
    if (problem === "age") return row.answered_at === null ? `it was never downloaded in ${old}` : `its last good download is ${old} old`;
    if (problem === "failures") return `${row.failures} updates in a row failed`;
    if (BY_CODE[row.error_code ?? ""] === undefined && loaded !== null) return `${loaded.configured} of its records say where they apply, and ${loaded.mostConfigured} did`;
    return "its last download was refused";
  });
  return [...parts, ...(row.error === null ? [] : [row.error])].join("; ").slice(0, 1000) || "it is well again";
}
