import { type Batch, parseProbeEvent, type ProbeEvent } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import { insertMany } from "../db/insert-many.ts";
import { lockSite } from "../db/lock-site.ts";
import type { Schema } from "../db/schema.ts";
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

/**
 * Commits what a batch holds beyond the queue's watermark, all of it or nothing: devices and what hangs on them, the event
 * log, and the watermark itself, in one transaction, the site held from its start: neither another probe of the site nor the
 * same batch in another process comes in between. What the collector has already is left out, so a batch may come again.
 */
export function commitBatch(
  deps: { readonly db: Kysely<Schema>; readonly log: EventLog; readonly merges: Merges },
  probe: ProbeSite,
  batch: ReadBatch,
  receivedAt: string,
): Promise<Committed> {
  return deps.db.transaction().execute(async (trx) => {
    await lockSite(trx, probe.siteId);
    const watermark = await readWatermark(trx, probe.probeId, batch.queueId);
    if (batch.after > watermark) return { watermark, isGap: true, appended: null, rejected: 0 };
    const fresh = batch.events.filter(({ seq }) => seq > watermark);
    const last = fresh.at(-1);
    if (!last) return { watermark, isGap: false, appended: null, rejected: 0 };
    const read = fresh.flatMap((entry) => ("event" in entry ? [entry] : []));
    const rejected = fresh.flatMap((entry) => ("event" in entry ? [] : [entry]));

    const shown = shownOf(read.map(({ event }) => event));
    if (shown.length > 0) await takeMovedInterfaces(trx, probe, shown);
    const set = await loadWorkingSet(trx, probe, wantedOf(read.map(({ event }) => event), shown));
    const entries = read.map(({ seq, event }): NewEvent => {
      const { type, deviceId, data } = applyEvent(event, { set, receivedAt });
      return {
        type, deviceId, data, siteId: probe.siteId, probeId: probe.probeId, queueId: batch.queueId, probeSeq: seq,
        occurredAt: event.occurred_at, receivedAt,
        isLate: event.occurred_at < batch.lateBefore,
      };
    });
    await saveWorkingSet(trx, set);
    const joined = await joinSeen(trx, deps.merges, set);
    const told = joined.size === 0 ? entries : entries.map((entry) => asJoined(entry, joined));
    const appended = told.length === 0 ? null : await deps.log.append(trx, probe.tenantId, told);
    await insertMany(trx, "rejected_events", rejected.map(({ seq, rejected: reason, raw }) => ({
      probe_id: probe.probeId, queue_id: batch.queueId, probe_seq: seq, tenant_id: probe.tenantId, received_at: receivedAt, reason,
      payload: toText(raw),
    })));
    await upsertMany(trx, "probe_queues", { key: ["probe_id", "queue_id"], update: ["watermark", "updated_at"] }, [
      { probe_id: probe.probeId, queue_id: batch.queueId, tenant_id: probe.tenantId, watermark: last.seq, updated_at: receivedAt },
    ]);
    return { watermark: last.seq, isGap: false, appended, rejected: rejected.length };
  });
}

async function readWatermark(trx: Transaction<Schema>, probeId: string, queueId: string): Promise<number> {
  const queue = await trx.selectFrom("probe_queues").select("watermark").where("probe_id", "=", probeId).where("queue_id", "=", queueId)
    .executeTakeFirst();
  return queue?.watermark ?? 0;
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
