import type { CveDatabaseInfo, CveUpdate } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError } from "../../gateway/errors.ts";
import type { LoadedData } from "./definition.ts";
import { problemsOf } from "./health.ts";
import type { FeedManager } from "./running/manager.ts";
import { parseProgress } from "./running/progress.ts";
import type { ConfiguredFeed } from "./source.ts";
import type { FeedRow, FeedsStore, UpdateRow } from "./store.ts";

/** The CVE database as its feeds make it. It is the same for all tenants. */
export interface CveUpdatesService {
  /** @throws ApiError CONFLICT while one runs, and where no feed is enabled. */
  start(actor: Actor): Promise<CveUpdate>;
  info(tenantId: string): Promise<CveDatabaseInfo>;
}

/** @param deps.loaded The database; null while there is none. */
export function createCveUpdatesService(deps: {
  readonly store: FeedsStore; readonly manager: FeedManager; readonly feeds: readonly ConfiguredFeed[]; readonly alertAfterMs: number;
  readonly audit: Audit; readonly clock: Pick<Clock, "now">; readonly loaded: () => LoadedData | null;
}): CveUpdatesService {
  const { store, manager, feeds, audit, clock } = deps;
  const sourceOf = () => feeds.find(({ definition }) => definition.subject === "cve");
  return {
    async start(actor) {
      if (feeds.length === 0) throw new ApiError("CONFLICT", "feeds are disabled: set feeds.enabled in the collector's configuration");
      const row = await manager.start({
        tenantId: actor.tenantId, name: actor.name,
        also: (trx, begun) => audit(trx, {
          actor, action: "cve.update", target: { type: "cve_update", id: begun.id }, before: null, after: toUpdate(begun),
        }),
      });
      if (row !== null) return toUpdate(row);
      const other = await store.running();
      // Another tenant's update is nobody else's to know more of.
      throw new ApiError("CONFLICT", "an update is already running", { details: { update_id: other?.tenant_id === actor.tenantId ? other.id : null } });
    },

    async info(tenantId) {
      const [rows, latest, running] = [await store.list(), await store.latest(tenantId), await store.running()];
      const own = feeds.flatMap((feed) => rows.filter(({ name }) => name === feed.definition.name).map((row) => [feed, row] as const));
      const [next, loaded] = [manager.nextAt(rows), deps.loaded()];
      return {
        total_entries: loaded?.entries ?? 0, last_update: loaded?.builtAt ?? null, update_source: sourceOf()?.definition.title ?? "none",
        next_scheduled_update: next === null ? null : toInstant(next), updating: running !== null,
        update: latest === null ? null : toUpdate(latest),
        feeds: own.map(([feed, row]) => toFeed(feed, row, { now: clock.now(), alertAfterMs: deps.alertAfterMs, loaded })),
      };
    },
  };
}

function toFeed(feed: ConfiguredFeed, row: FeedRow, at: Parameters<typeof problemsOf>[2]): CveDatabaseInfo["feeds"][number] {
  return {
    name: row.name, title: feed.definition.title, updated_at: row.consumed_at, checked_at: row.answered_at, next_at: row.next_at,
    records: row.records, problems: [...problemsOf(feed, row, at)], error: row.error,
  };
}

function toUpdate({ id, status, trigger, requested_by: requestedBy, started_at: startedAt, finished_at: finishedAt, progress, error }: UpdateRow): CveUpdate {
  return {
    id, status: status as CveUpdate["status"], trigger: trigger as CveUpdate["trigger"], requested_by: requestedBy, started_at: startedAt,
    finished_at: finishedAt, feeds: [...parseProgress(progress)], error,
  };
}
