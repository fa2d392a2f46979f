import { type Batch, parseProbeEvent, type ProbeEvent } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import { insertMany } from "../db/insert-many.ts";
import { lockSites } from "../db/lock-site.ts";
import type { Schema } from "../db/schema.ts";
import { selectIn } from "../db/select-in.ts";
import type { Appended, EventLog, NewEvent } from "../events/log.ts";
import { keysOf, keyText } from "../identity/keys.ts";
import type { Merges } from "../identity/merges.ts";
import { type ShownInterface, takeMovedInterfaces } from "../identity/moved-interfaces.ts";
import type { HostRef } from "./devices-draft.ts";
import { chassisKeys } from "./apply/neighbor.ts";
import { applyEvent, hostsOf, touchesOf } from "./apply/table.ts";
import { joinSeen } from "./join-seen.ts";
import { saveWorkingSet } from "./save-working-set.ts";
import { loadWorkingSet, type Site } from "./working-set.ts";
import { upsertMany } from "./write-rows.ts";

/** A probe with its place. */
export interface ProbeSite extends Site {
  readonly probeId: string;
}

/** A batch whose events have been read, each for itself. */
export interface ReadBatch {
  readonly queueId: string;
  readonly after: number;
  /** Events that occurred before this are late. */
  readonly lateBefore: string;
  readonly events: readonly ReadEvent[];
}

type RawEvent = Batch["events"][number];

export type ReadEvent =
  | { readonly seq: number; readonly event: ProbeEvent }
  /** An event that cannot be read or applied: kept as it came, with the reason. */
  | { readonly seq: number; readonly rejected: string; readonly raw: RawEvent };

/** How far the queue is committed now, and what was done to get there. */
export interface Committed {
  readonly watermark: number;
  /** The batch begins behind the watermark: events in between never came. Nothing was done. */
  readonly isGap: boolean;
  readonly appended: Appended | null;
  readonly rejected: number;
}

/** A probe that comes back within this has been live all the time, to people; what is older pages nobody. */
const LATE_AFTER_MS = 10 * 60_000;

export function readEvents(batch: Batch): ReadBatch {
  const events = batch.events.map((raw): ReadEvent => {
    const parsed = parseProbeEvent(raw);
    return parsed.ok ? { seq: raw.seq, event: parsed.event } : { seq: raw.seq, rejected: parsed.message, raw };
  });
  // Both times are the probe's own: a clock that is off makes nothing late.
  return { queueId: batch.queue_id, after: batch.after, lateBefore: toInstant(Date.parse(batch.sent_at) - LATE_AFTER_MS), events };
}

/** A batch, whose it is and when it came. */
export interface Delivered {
  readonly probe: ProbeSite;
  readonly batch: ReadBatch;
  readonly receivedAt: string;
}

interface CommitDependencies {
  readonly db: Kysely<Schema>;
  readonly log: EventLog;
  readonly merges: Merges;
}

/**
 * Commits what batches hold beyond their queues' watermarks, all of it or nothing: devices and what hangs on them, the event
 * log, and the watermarks themselves, in one transaction, the sites held from its start: neither another probe of a site nor the
 * same batch in another process comes in between. What the collector has already is left out, so a batch may come again.
 * @param deliveries No two of one probe.
 * @returns What became of each, in their order.
 */
export function commitBatches(deps: CommitDependencies, deliveries: readonly Delivered[]): Promise<readonly Committed[]> {
  return deps.db.transaction().execute(async (trx) => {
    const bySite = groupBy(deliveries, ({ probe }) => probe.siteId);
    await lockSites(trx, [...bySite.keys()]);
    const watermarks = await readWatermarks(trx, deliveries);
    const drafts = new Map<Delivered, Draft>();
    for (const atSite of bySite.values()) {
      for (const draft of await applyAtSite(trx, deps.merges, atSite, watermarks)) drafts.set(draft.delivery, draft);
    }
    const inOrder = deliveries.map((delivery) => drafts.get(delivery) as Draft);
    const appended = new Map<Draft, Appended>();
    for (const [tenantId, ofTenant] of [...groupBy(inOrder, ({ delivery }) => delivery.probe.tenantId)].toSorted(byKey)) {
      const entries = ofTenant.flatMap((draft) => draft.entries);
      let { fromSeq } = entries.length === 0 ? { fromSeq: 0 } : await deps.log.append(trx, tenantId, entries);
      for (const draft of ofTenant) {
        if (draft.entries.length > 0) appended.set(draft, { fromSeq, toSeq: fromSeq + draft.entries.length - 1 });
        fromSeq += draft.entries.length;
      }
    }
    await insertMany(trx, "rejected_events", inOrder.flatMap(({ delivery: { probe, batch, receivedAt }, rejected }) =>
      rejected.map(({ seq, rejected: reason, raw }) => ({
        probe_id: probe.probeId, queue_id: batch.queueId, probe_seq: seq, tenant_id: probe.tenantId, received_at: receivedAt, reason,
        payload: toText(raw),
      }))));
    await upsertMany(
      trx, "probe_queues", { key: ["probe_id", "queue_id"], update: ["watermark", "updated_at"] },
      inOrder.filter(({ isNews }) => isNews).map(({ delivery: { probe, batch, receivedAt }, watermark }) => (
        { probe_id: probe.probeId, queue_id: batch.queueId, tenant_id: probe.tenantId, watermark, updated_at: receivedAt }
      )),
    );
    return inOrder.map((draft): Committed => ({
      watermark: draft.watermark, isGap: draft.isGap, appended: appended.get(draft) ?? null, rejected: draft.rejected.length,
    }));
  });
}

/** `commitBatches` with one. */
export async function commitBatch(deps: CommitDependencies, probe: ProbeSite, batch: ReadBatch, receivedAt: string): Promise<Committed> {
  const [committed] = await commitBatches(deps, [{ probe, batch, receivedAt }]);
  return committed as Committed;
}

/** What is to be written of a batch. */
interface Draft {
  readonly delivery: Delivered;
  readonly watermark: number;
  readonly isGap: boolean;
  /** Whether it holds anything beyond the watermark. */
  readonly isNews: boolean;
  readonly entries: readonly NewEvent[];
  readonly rejected: readonly Extract<ReadEvent, { readonly rejected: string }>[];
}

/** Applies batches of one site's probes to its devices, and says what else is to be written. */
async function applyAtSite(
  trx: Transaction<Schema>, merges: Merges, deliveries: readonly Delivered[], watermarks: ReadonlyMap<string, number>,
): Promise<readonly Draft[]> {
  const known = deliveries.map((delivery) => {
    const { probe, batch } = delivery;
    const watermark = watermarks.get(queueKey(probe.probeId, batch.queueId)) ?? 0;
    const isGap = batch.after > watermark;
    const fresh = isGap ? [] : batch.events.filter(({ seq }) => seq > watermark);
    return {
      delivery, isGap, isNews: fresh.length > 0, watermark: fresh.at(-1)?.seq ?? watermark,
      read: fresh.flatMap((entry) => ("event" in entry ? [entry] : [])),
      rejected: fresh.flatMap((entry) => ("event" in entry ? [] : [entry])),
    };
  });
  const events = known.flatMap(({ read }) => read.map(({ event }) => event));
  const [first] = deliveries;
  if (events.length === 0 || !first) return known.map((draft) => ({ ...draft, entries: [] }));
  const shown = shownOf(events);
  if (shown.length > 0) await takeMovedInterfaces(trx, first.probe, shown);
  const set = await loadWorkingSet(trx, first.probe, wantedOf(events, shown));
  const drafts = known.map((draft) => {
    const { probe, batch, receivedAt } = draft.delivery;
    const entries = draft.read.map(({ seq, event }): NewEvent => {
      const { type, deviceId, data } = applyEvent(event, { set, receivedAt });
      return {
        type, deviceId, data, siteId: probe.siteId, probeId: probe.probeId, queueId: batch.queueId, probeSeq: seq,
        occurredAt: event.occurred_at, receivedAt,
        isLate: event.occurred_at < batch.lateBefore,
      };
    });
    return { ...draft, entries };
  });
  await saveWorkingSet(trx, set);
  const joined = await joinSeen(trx, merges, set);
  return joined.size === 0 ? drafts : drafts.map((draft) => ({ ...draft, entries: draft.entries.map((entry) => asJoined(entry, joined)) }));
}

async function readWatermarks(trx: Transaction<Schema>, deliveries: readonly Delivered[]): Promise<ReadonlyMap<string, number>> {
  const rows = await selectIn(deliveries.map(({ probe }) => probe.probeId), (list) => trx.selectFrom("probe_queues")
    .select(["probe_id", "queue_id", "watermark"]).where("probe_id", "in", list).execute());
  return new Map(rows.map((row) => [queueKey(row.probe_id, row.queue_id), row.watermark]));
}

function queueKey(probeId: string, queueId: string): string {
  return `${probeId} ${queueId}`;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** Tenants are held in the same order by all. */
function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1;
}

function wantedOf(events: readonly ProbeEvent[], shown: readonly ShownInterface[]): Parameters<typeof loadWorkingSet>[2] {
  const hosts: HostRef[] = [];
  const withAddresses: HostRef[] = [];
  const withPorts: HostRef[] = [];
  for (const event of events) {
    const touches = touchesOf(event);
    for (const ref of hostsOf(event)) {
      hosts.push(ref);
      if (touches === "addresses") withAddresses.push(ref);
      if (touches === "ports") withPorts.push(ref);
    }
  }
  const chassis = events.flatMap((event) => (event.type === "neighbor_discovered" ? chassisKeys(event.data) : []));
  const keys = new Set([...shown.flatMap((one) => one.keys), ...chassis].map(keyText));
  return { hosts, withAddresses, withPorts, keys: [...keys] };
}

/** The interfaces that are seen with keys. */
function shownOf(events: readonly ProbeEvent[]): readonly ShownInterface[] {
  return events.flatMap(({ type, data, occurred_at: at }) => {
    if (type !== "host_found" && type !== "host_changed") return [];
    const keys = keysOf(data);
    return keys.length === 0 ? [] : [{ mac: data.mac, keys, at }];
  });
}

/** A host that turned out to be a device that is known was not found but has changed: a phone with another MAC is nothing new. */
function asJoined(entry: NewEvent, joined: ReadonlyMap<string, string>): NewEvent {
  const deviceId = entry.deviceId === null ? undefined : joined.get(entry.deviceId);
  if (deviceId === undefined) return entry;
  if (entry.type !== "host_found") return { ...entry, deviceId };
  return { ...entry, deviceId, type: "host_changed", data: { ...entry.data, changed: ["addresses"] } };
}

/** As it came, except where it is nested so deeply that it cannot be written out again. */
function toText(raw: RawEvent): string {
  try {
    return JSON.stringify(raw);
  } catch {
    return JSON.stringify({ seq: raw.seq, type: raw.type, occurred_at: raw.occurred_at, data: "nested too deeply to be kept" });
  }
}
