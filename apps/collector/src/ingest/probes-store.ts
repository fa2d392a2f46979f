import type { Kysely, Selectable, Transaction } from "kysely";
import { listQuery } from "../db/query/list-query.ts";
import { hasRowLocks } from "../db/row-locks.ts";
import type { Schema } from "../db/schema.ts";
import { updateMany } from "../db/query/write-many.ts";
import type { ProbeSite } from "./messages/read-batch.ts";
import { createCoalescer } from "./commit/coalescer.ts";

/** A probe as ingest needs it. */
export interface KnownProbe extends ProbeSite {
  readonly name: string;
  readonly state: string;
  readonly silentSince: string | null;
  readonly lastHeardAt: string | null;
  readonly runId: string | null;
  /** How far our clock was ahead of its clock when that was last kept. */
  readonly clockOffsetMs: number | null;
}

const COLUMNS = ["id", "tenant_id", "site_id", "name", "state", "silent_since", "last_heard_at", "run_id", "clock_offset_ms"] as const;

const present = listQuery((db, ids: readonly string[]) =>
  db.selectFrom("probes").select(COLUMNS).where("id", "in", ids).where("revoked_at", "is", null));

const held = listQuery((db, ids: readonly string[]) => {
  const query = db.selectFrom("probes").select(COLUMNS).where("id", "in", ids).where("revoked_at", "is", null).orderBy("id");
  return hasRowLocks(db) ? query.forNoKeyUpdate() : query;
});

function toKnown(row: Pick<Selectable<Schema["probes"]>, (typeof COLUMNS)[number]>): KnownProbe {
  return {
    probeId: row.id, tenantId: row.tenant_id, siteId: row.site_id, name: row.name, state: row.state,
    silentSince: row.silent_since, lastHeardAt: row.last_heard_at, runId: row.run_id,
    clockOffsetMs: row.clock_offset_ms,
  };
}

/** What a probe said last of how it is, and how far our clock is ahead of its clock. */
interface KeptHealth {
  readonly version: string;
  readonly json: string;
  readonly clockOffsetMs: number | null;
}

/** What ingest keeps of probes. */
export interface ProbesStore {
  /** @returns Null for a probe that is unknown or revoked. */
  find(probeId: string): Promise<KnownProbe | null>;
  /** Probes that were heard last when this collector ended. */
  listOnline(): Promise<readonly KnownProbe[]>;
  /** Those of a site, or of these ids, that are not revoked. */
  listOf(whom: { readonly siteId: string } | { readonly probeIds: readonly string[] }): Promise<readonly KnownProbe[]>;
  /**
   * Holds those of these that are not revoked until the transaction ends, in one order in all processes, so that no two wait for
   * each other.
   */
  hold(trx: Transaction<Schema>, probeIds: readonly string[]): Promise<readonly KnownProbe[]>;
  /** @param times Probe → when it was heard. */
  setHeard(times: ReadonlyMap<string, string>): Promise<void>;
  setRun(probeId: string, run: { readonly runId: string; readonly version: string }): Promise<void>;
  setHealth(probeId: string, health: KeptHealth): Promise<void>;
  addRefused(probeId: string, counts: Readonly<Record<string, number>>): Promise<void>;
}

/** What ingest knows of probes. @param deps.reads Asked for many probes at once: look-ups of one turn of the loop are one query. */
export function createProbesStore(deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): ProbesStore {
  const { db, reads } = deps;
  const lookUp = createCoalescer<null, KnownProbe>(async (asked) => {
    return new Map((await present(reads, [...asked.keys()])).map((row) => [row.id, toKnown(row)]));
  });
  const hold: ProbesStore["hold"] = async (trx, probeIds) => (await held(trx, probeIds.toSorted())).map(toKnown);
  /** Sets what `change` says of those that are there, of all that are asked for at the same time by one statement. */
  const setTogether = <V>(change: (value: V, probe: KnownProbe) => Readonly<Record<string, string | number | null>> | null) =>
    createCoalescer<V, never>(async (asked) => {
      await db.transaction().execute(async (trx) => {
        const rows = (await hold(trx, [...asked.keys()]))
          .map((probe) => ({ id: probe.probeId, set: change(asked.get(probe.probeId) as V, probe) }));
        await updateMany(trx, "probes", rows.flatMap(({ id, set }) => (set ? [{ id, ...set }] : [])));
      });
      return new Map<string, never>();
    });
  const setRun = setTogether<{ readonly runId: string; readonly version: string }>(({ runId, version }, known) =>
    (known.runId === runId ? null : { run_id: runId, version }));
  const setHealth = setTogether<KeptHealth>(({ version, json, clockOffsetMs }) => (
    { health: json, version, clock_offset_ms: clockOffsetMs }));
  const setHeardOne = setTogether<string>((at, { lastHeardAt }) =>
    (lastHeardAt === null || lastHeardAt < at ? { last_heard_at: at } : null));
  return {
    find: (probeId) => lookUp(probeId, null),
    hold,
    async listOnline() {
      return (await reads.selectFrom("probes").select(COLUMNS).where("state", "=", "online").where("revoked_at", "is", null)
        .execute()).map(toKnown);
    },
    async listOf(whom) {
      const query = reads.selectFrom("probes").select(COLUMNS).where("revoked_at", "is", null);
      if ("siteId" in whom) return (await query.where("site_id", "=", whom.siteId).execute()).map(toKnown);
      return whom.probeIds.length === 0 ? [] : (await query.where("id", "in", whom.probeIds).execute()).map(toKnown);
    },
    setHeard: async (times) => void (await Promise.all([...times].map(([probeId, at]) => setHeardOne(probeId, at)))),
    setRun: async (probeId, run) => void (await setRun(probeId, run)),
    setHealth: async (probeId, health) => void (await setHealth(probeId, health)),
    addRefused: (probeId, counts) => db.transaction().execute(async (trx) => {
      // Written before it is read: another process waits here.
      const row = await trx.updateTable("probes").set((eb) => ({ refused: eb.ref("refused") })).where("id", "=", probeId)
        .returning("refused").executeTakeFirst();
      if (!row) return;
      const total = JSON.parse(row.refused) as Record<string, number>;
      for (const [reason, count] of Object.entries(counts)) total[reason] = (total[reason] ?? 0) + count;
      await trx.updateTable("probes").set({ refused: JSON.stringify(total) }).where("id", "=", probeId).execute();
    }),
  };
}
