import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import { createRetentionJob, type Job } from "../../../jobs/job.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { PcapSettings } from "../configuration.ts";
import { toAudited } from "../records.ts";
import type { PcapRetentionStore, StoredPcap } from "../store/retention-store.ts";
import type { CaptureStore } from "./capture-store.ts";

/** Removes files and records of captures whose time is over or whose room is needed. */
export interface PcapRetention {
  readonly job: Job<number>;
  /** Removes a site's oldest files that are not locked, until the others fit. */
  fit(siteId: string): Promise<number>;
}

const RUN_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const AT_ONCE = 200;
/** What no row knows after this is no file that is being stored. */
const ORPHAN_MS = 24 * 3_600_000;
const REQUESTED_MS = 300_000;
/** The longest capture, and an hour for its report. */
const RECORDING_MS = 25 * 3_600_000;
/** How long a capture without a file is remembered beyond the time of files. */
const REMEMBER_DAYS = 90;

/**
 * Old files and those beyond a site's room go; locked ones stay. What no row knows goes too, as after a crash or a restored backup.
 * @param deps.onRun Called at the end of each run.
 */
export function createPcapRetention(deps: {
  readonly store: PcapRetentionStore; readonly audit: Audit; readonly onRun: () => Promise<void>; readonly files: CaptureStore; readonly settings: PcapSettings; readonly clock: Clock; readonly log: Log;
}): PcapRetention {
  const { store, files, settings, clock, log } = deps;
  const ago = (ms: number) => toInstant(clock.now() - ms);
  const bytes = settings.keep_megabytes * 1e6;

  /** The row first: a file that no row knows is found, a row without its file would promise one. */
  const expire = async (one: StoredPcap, detail: string): Promise<number> => {
    const isExpired = await store.expire(one, { detail, at: ago(0) }, (trx, row) => deps.audit(trx, {
      actor: { type: "system", id: "retention", name: "retention", tenantId: row.tenant_id, address: "" }, action: "pcap.expire",
      target: { type: "pcap", id: row.id }, before: toAudited(row), after: { detail },
    }));
    if (!isExpired) return 0;
    await files.remove(one.id);
    return 1;
  };
  const fit = async (siteId: string): Promise<number> => {
    let [beyond, count] = [0, 0];
    for (const site of await store.sitesBeyond(bytes)) if (site.siteId === siteId) beyond = site.bytes - bytes;
    while (beyond > 0) {
      const oldest = await store.oldest(siteId, AT_ONCE);
      if (oldest.length === 0) break;
      for (const one of oldest) {
        if (beyond <= 0) break;
        count += await expire(one, `removed to make room: the site's captures may have ${settings.keep_megabytes} MB`);
        beyond -= one.stored_bytes;
      }
    }
    return count;
  };
  const expireOld = async (stopped: AbortSignal): Promise<number> => {
    let count = 0;
    for (let page: readonly StoredPcap[] | null = null; page === null || page.length === AT_ONCE;) {
      page = await store.old(ago(settings.keep_days * DAY_MS), AT_ONCE);
      for (const one of page) {
        if (stopped.aborted) return count;
        count += await expire(one, `removed after ${settings.keep_days} days`);
      }
    }
    return count;
  };

  return {
    fit: (siteId) => fit(siteId).catch((error: unknown) => {
      log.error({ site_id: siteId, reason: describeError(error) }, "old captures could not be removed, trying again later");
      return 0;
    }),
    job: createRetentionJob({ clock, log }, {
      name: "pcap-retention", everyMs: RUN_EVERY_MS, who: "one replica", what: "captures",
      async run(stopped) {
        let count = await expireOld(stopped);
        for (const { siteId } of await store.sitesBeyond(bytes)) if (!stopped.aborted) count += await fit(siteId);
        await store.failStale({ requested: ago(REQUESTED_MS), recording: ago(RECORDING_MS) }, ago(0));
        count += await forgetOld(store, ago((settings.keep_days + REMEMBER_DAYS) * DAY_MS), stopped);
        await store.forgetCommands(ago(REQUESTED_MS));
        await removeOrphans({ store, files, storedBefore: clock.now() - ORPHAN_MS }, stopped);
        await deps.onRun();
        return count;
      },
    }),
  };
}

/** Forgets captures without a file that were last changed before `before`, page by page. */
async function forgetOld(store: Pick<PcapRetentionStore, "forget">, before: string, stopped: AbortSignal): Promise<number> {
  let count = 0;
  for (let last = AT_ONCE; last === AT_ONCE && !stopped.aborted; count += last) last = await store.forget(before, AT_ONCE);
  return count;
}

/** Removes files that no row knows. */
async function removeOrphans({ store, files, storedBefore }: {
  readonly store: Pick<PcapRetentionStore, "stored">; readonly files: CaptureStore; readonly storedBefore: number;
}, stopped: AbortSignal): Promise<void> {
  let names: string[] = [];
  const check = async () => {
    const known = await store.stored(names);
    for (const id of names) if (!known.has(id)) await files.remove(id);
    names = [];
  };
  for await (const { id, storedAt } of files.list()) {
    if (stopped.aborted) return;
    if (storedAt < storedBefore) names.push(id);
    if (names.length >= AT_ONCE) await check();
  }
  await check();
}
