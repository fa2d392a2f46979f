import type { EventData } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import type { EventLog } from "../events/log.ts";
import type { SourceRow } from "./fetch-source.ts";

type Problems = EventData<"feed_health">["problems"];

type Trx = Transaction<Schema>;

/** Sources with their versions. */
interface WatchedSources<R extends SourceRow> {
  locked<T>(tenantId: string, work: (trx: Trx) => Promise<T>): Promise<T>;
  byId(handle: Trx | null, tenantId: string, id: string): Promise<R | null>;
  /** Those that are downloaded or read from files, and those of which something was reported, whoever's. */
  watched(): Promise<readonly R[]>;
  set(handle: Trx | null, id: string, columns: { readonly reported: string }): Promise<void>;
  /** The newest first. */
  versions(handle: Trx | null, id: string): Promise<readonly { readonly is_held: number; readonly note: string }[]>;
}

/** Says how sources that are downloaded are, as it is said of other feeds: it raises and ends alerts of their tenants. */
export interface SourceHealth {
  /** Publishes what has changed. */
  check(): Promise<void>;
  /** In the transaction in which a source goes: its alert ends. @returns The number of the event; null where it had no alert. */
  end(trx: Trx, row: SourceRow): Promise<number | null>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** One failure is a source that was away for a moment. */
const MAX_FAILURES = 3;
/** Of sources that are asked seldom: older than so many intervals. */
const MAX_INTERVALS = 3;
/** Rules and lists are published each day, against what is new. */
const HIGH_AFTER_MS = 7 * DAY_MS;

/** @param deps.what Its feeds are `<feed>-<id>`, their title is `<title> <name>`. @param deps.alertAfterMs From when a source is old that did not answer well. */
export function createSourceHealth<R extends SourceRow>(deps: {
  readonly store: WatchedSources<R>; readonly what: { readonly feed: string; readonly title: string }; readonly events: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
  readonly clock: Pick<Clock, "now">; readonly alertAfterMs: number;
}): SourceHealth {
  const { store, what, events, published, clock } = deps;
  const append = async (trx: Trx, row: SourceRow, problems: Problems, message: string) => {
    const at = toInstant(clock.now());
    const data: EventData<"feed_health"> = {
      feed: `${what.feed}-${row.id}`, title: `${what.title} ${row.name}`.slice(0, 128), state: problems.length > 0 ? "raised" : "cleared", problems: [...problems],
      severity: ageOf(row, clock.now()) > HIGH_AFTER_MS ? "high" : "medium", message: message.slice(0, 1000),
    };
    const event = { type: "feed_health" as const, data, siteId: null, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at };
    return (await events.append(trx, row.tenant_id, [event])).fromSeq;
  };
  return {
    async check() {
      for (const row of await store.watched()) {
        const held = (await store.versions(null, row.id))[0];
        const problems = problemsOf(row, { now: clock.now(), alertAfterMs: deps.alertAfterMs, isHeld: held?.is_held === 1 });
        const reported = problems.join(",");
        if (reported === row.reported) continue;
        const fromSeq = await store.locked(row.tenant_id, async (trx) => {
          const current = await store.byId(trx, row.tenant_id, row.id);
          if (!current || current.reported !== row.reported) return null;
          await store.set(trx, row.id, { reported });
          return append(trx, current, problems, describe(current, problems, { now: clock.now(), note: held?.note ?? "" }));
        });
        if (fromSeq !== null) published(row.tenant_id, fromSeq);
      }
    },
    end: (trx, row) => (row.reported === "" ? Promise.resolve(null) : append(trx, row, [], "it was deleted")),
  };
}

/** How long ago its source last answered well, or it was made. */
function ageOf({ checked_at: checked, created_at: created }: SourceRow, now: number): number {
  return Math.max(0, now - Date.parse(checked ?? created));
}

function problemsOf(row: SourceRow, { now, alertAfterMs, isHeld }: { readonly now: number; readonly alertAfterMs: number; readonly isHeld: boolean }): Problems {
  if (row.is_enabled === 0 || row.kind === "local") return [];
  const isOld = ageOf(row, now) > Math.max(alertAfterMs, MAX_INTERVALS * row.interval_hours * HOUR_MS);
  return [...(isOld ? ["age" as const] : []), ...(isHeld ? ["records" as const] : []), ...(row.failures >= MAX_FAILURES ? ["failures" as const] : [])];
}

function describe(row: SourceRow, problems: Problems, { now, note }: { readonly now: number; readonly note: string }): string {
  const age = ageOf(row, now);
  const old = age < 2 * DAY_MS ? `${Math.round(age / HOUR_MS)} hours` : `${Math.round(age / DAY_MS)} days`;
  const parts = problems.map((problem) => {
    if (problem === "age") return row.checked_at === null ? `it was never downloaded in ${old}` : `its source last answered well ${old} ago`;
    return problem === "failures" ? `${row.failures} updates in a row failed` : `its newest version is held back: ${note}`;
  });
  return [...parts, ...(row.error === null ? [] : [row.error])].join("; ") || "it is well again";
}
