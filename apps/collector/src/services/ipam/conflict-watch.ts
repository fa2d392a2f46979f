import { CONFLICT_KINDS, type EventData } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import { addressOf } from "../../db/keys/address-range.ts";
import type { Schema } from "../../db/schema.ts";
import type { EventLog, NewEvent } from "../../events/log.ts";
import { createJob, type Job } from "../../jobs/job.ts";
import { type Finding, findConflicts } from "./store/conflicts.ts";
import { holdersOf } from "./store/observations.ts";
import { addConflicts, type ConflictRow, knownConflicts, setConflict, tenantsWithPlan } from "./store/plan-writes.ts";
import type { IpamStore } from "./store/plan.ts";

/** All that is wrong with one address at a site. */
interface Conflict {
  readonly siteId: string;
  readonly ipKey: string;
  /** With commas, in the order of `CONFLICT_KINDS`. */
  readonly kinds: string;
  readonly expectedMac: string | null;
}

const LOOK_EVERY_MS = 60_000;
/** In one transaction, during which ingest waits; the next check publishes the rest. */
const MAX_PUBLISHED_AT_ONCE = 500;
const MAX_HOLDERS = 16;

/**
 * Says when a plan and what is seen begin to differ, and when they agree again: one fact for each address of a site. Each run looks at every
 * tenant that has a plan. A conflict is published when the next run finds it too: a lease that moves from one device to another is none.
 */
export function createConflictWatch(deps: {
  readonly store: IpamStore; readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
  readonly clock: Clock; readonly logger: Log;
}): Job<void> {
  const { store, clock } = deps;

  const look = async (tenantId: string) => {
    const found = byAddress(await findConflicts(store, tenantId, CONFLICT_KINDS));
    const appended = await store.change(tenantId, async (trx) => {
      const known = await knownConflicts(trx, tenantId);
      const events = await note(trx, tenantId, known, found);
      return events.length === 0 ? null : deps.log.append(trx, tenantId, events);
    });
    if (appended) deps.published(tenantId, appended.fromSeq);
  };

  /** Updates the stored conflicts to those found. @returns The events to publish. */
  const note = async (
    trx: Transaction<Schema>, tenantId: string, known: readonly ConflictRow[], found: ReadonlyMap<string, Conflict>,
  ): Promise<readonly NewEvent[]> => {
    const knownKeys = new Set(known.map((row) => keyOf(row.site_id, row.ip_key)));
    const fresh = [...found].filter(([key]) => !knownKeys.has(key)).map(([, conflict]) => ({
      tenant_id: tenantId, site_id: conflict.siteId, ip_key: conflict.ipKey, kinds: conflict.kinds, published: 0,
    }));
    await addConflicts(trx, fresh);
    const changed = known.filter((row) => {
      const now = found.get(keyOf(row.site_id, row.ip_key));
      return now === undefined || row.published === 0 || now.kinds !== row.kinds;
    }).slice(0, MAX_PUBLISHED_AT_ONCE);
    const holders = await holdersOf(trx, tenantId, changed.map(({ ip_key: key }) => key), null);
    const at = toInstant(clock.now());
    const events: NewEvent[] = [];
    for (const row of changed) {
      const now = found.get(keyOf(row.site_id, row.ip_key));
      await setConflict(trx, row, now?.kinds ?? null);
      if (!now && row.published === 0) continue;
      const data: EventData<"ipam_conflict"> = {
        ip: addressOf(row.ip_key), state: now ? "present" : "gone", kinds: splitKinds(now?.kinds ?? row.kinds),
        expected_mac: now?.expectedMac ?? null,
        observed: (holders.get(row.ip_key) ?? []).filter(({ site_id: site }) => site === row.site_id).slice(0, MAX_HOLDERS)
          .map(({ mac, hostname }) => ({ mac, hostname })),
      };
      events.push({
        type: "ipam_conflict", data, siteId: row.site_id, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at,
        receivedAt: at,
      });
    }
    return events;
  };

  const work = async (stopped: AbortSignal) => {
    // Also those whose plan is gone, and with it what was wrong.
    for (const tenantId of await tenantsWithPlan(store.reads)) {
      if (stopped.aborted) return;
      await look(tenantId);
    }
  };
  return createJob({ clock, log: deps.logger }, {
    name: "ipam-conflicts", everyMs: LOOK_EVERY_MS, who: "one replica",
    failure: "address conflicts could not be checked, trying again in a minute", run: work,
  });
}

function byAddress(findings: readonly Finding[]): ReadonlyMap<string, Conflict> {
  const found = new Map<string, Conflict>();
  for (const kind of CONFLICT_KINDS) {
    for (const finding of findings.filter((one) => one.kind === kind)) {
      const key = keyOf(finding.site_id, finding.ip_key);
      const before = found.get(key);
      found.set(key, {
        siteId: finding.site_id, ipKey: finding.ip_key,
        kinds: before && !before.kinds.split(",").includes(kind) ? `${before.kinds},${kind}` : (before?.kinds ?? kind),
        expectedMac: before?.expectedMac ?? finding.expected_mac,
      });
    }
  }
  return found;
}

function splitKinds(text: string): EventData<"ipam_conflict">["kinds"] {
  const kinds = new Set(text.split(","));
  return CONFLICT_KINDS.filter((kind) => kinds.has(kind));
}

function keyOf(siteId: string, ipKey: string): string {
  return `${siteId}.${ipKey}`;
}
