import type { ProbeEvent } from "@lanthorn/contract";
import type { Transaction } from "kysely";
import { groupBy } from "../../db/query/group-by.ts";
import type { Schema } from "../../db/schema.ts";
import type { NewEvent } from "../../events/log.ts";
import { keysOf, keyText } from "../../identity/keys.ts";
import type { Merges } from "../../identity/merging/merges.ts";
import { type ShownInterface, takeMovedInterfaces } from "../../identity/merging/moved-interfaces.ts";
import { type Announcements, createAnnouncements } from "../announcements.ts";
import type { DeviceGrowth } from "../devices/device-growth.ts";
import type { HostRef } from "../devices/devices-draft.ts";
import { joinSeen } from "../devices/join-seen.ts";
import { judgeDevices } from "../devices/judge-devices.ts";
import { spareDecoys, type Spared } from "../devices/spare-decoys.ts";
import { chassisKeys } from "../projections/neighbor.ts";
import { type LogEntry, projectionOf, type Projections } from "../projections/projection.ts";
import type { Delivered, ReadEvent } from "../messages/read-batch.ts";
import { readDecoyAddresses } from "../store/decoy-addresses.ts";
import { readDiscoveries, saveDiscoveries } from "../store/discoveries.ts";
import { loadWorkingSets, type Wanted } from "../store/load-working-sets.ts";
import { saveWorkingSets } from "../store/save-working-sets.ts";
import type { Site, WorkingSet } from "../working-set.ts";

/** What a batch holds beyond its queue's watermark. */
export interface FreshBatch {
  readonly delivery: Delivered;
  /** Where the queue is with it. */
  readonly watermark: number;
  readonly refusal: "gap" | "queue-limit" | null;
  /** Whether it holds anything. */
  readonly isNews: boolean;
  readonly read: readonly Extract<ReadEvent, { readonly event: ProbeEvent }>[];
  readonly rejected: readonly Extract<ReadEvent, { readonly rejected: string }>[];
}

/** A batch whose events have changed what they change, and what is to be logged of it. */
export interface AppliedBatch extends FreshBatch {
  readonly entries: readonly NewEvent[];
}

/**
 * Applies batches to the devices of their sites, which are held.
 * @returns In their order.
 */
export async function applyBatches(
  trx: Transaction<Schema>, { merges, growth, projections }: {
    readonly merges: Merges; readonly growth: DeviceGrowth; readonly projections: Projections;
  }, delivered: readonly FreshBatch[],
): Promise<readonly AppliedBatch[]> {
  const batches = await spareBatches(trx, delivered);
  const sites = [...groupBy(batches.filter(({ read }) => read.length > 0), ({ delivery }) => delivery.probe.siteId).values()]
    .map((atSite) => siteOf(projections, atSite[0].delivery.probe, atSite.flatMap(({ read }) => read.flatMap(({ event, isDecoy }) => (isDecoy ? [] : [event])))));
  if (sites.length === 0) return batches.map((batch) => ({ ...batch, entries: [] }));
  const shown = sites.flatMap((site) => site.shown);
  if (shown.length > 0) await takeMovedInterfaces(trx, shown);
  const sets = await loadWorkingSets(trx, sites.map(({ wanted }) => wanted));
  const discoveries = await readDiscoveries(trx, sets.map(({ site }) => site.siteId));
  const announcements = new Map(sets.map(({ site }) => [site.siteId, createAnnouncements(site, discoveries.get(site.siteId))]));
  const bySite = new Map(sets.map((set) => [set.site.siteId, { set, announcements: announcements.get(set.site.siteId) as Announcements }]));
  const applied = batches.map((batch) => ({ ...batch, entries: entriesOf(projections, batch, bySite) }));
  await judgeDevices(trx, sets);
  await saveWorkingSets(trx, sets);
  await growth.limit(trx, sets);
  await saveDiscoveries(trx, [...announcements.values()].flatMap((one) => one.row() ?? []));
  const joined = await joinSeen(trx, merges, sets);
  return joined.size === 0
    ? applied
    : applied.map((batch) => ({ ...batch, entries: batch.entries.map((entry) => asJoined(entry, joined)) }));
}

interface SparedBatch extends Omit<FreshBatch, "read"> {
  readonly read: readonly (FreshBatch["read"][number] & Spared)[];
}

/** Events without what they say of decoys. */
async function spareBatches(trx: Transaction<Schema>, batches: readonly FreshBatch[]): Promise<readonly SparedBatch[]> {
  const [first, ...rest] = batches.filter(({ read }) => read.length > 0).map(({ delivery }) => delivery);
  const decoysFor = first ? await readDecoyAddresses(trx, [...new Set([first, ...rest].map(({ probe }) => probe.siteId))], first.receivedAt) : () => new Set<string>();
  return batches.map((batch) => {
    const decoys = decoysFor(batch.delivery.probe);
    return { ...batch, read: batch.read.map((entry) => ({ ...entry, ...(decoys.size > 0 ? spareDecoys(entry.event, decoys) : { event: entry.event, isDecoy: false as const }) })) };
  });
}

function entriesOf(
  projections: Projections, { delivery: { probe, batch, receivedAt }, read }: SparedBatch, sites: ReadonlyMap<string, OpenSite>,
): readonly NewEvent[] {
  const site = sites.get(probe.siteId) as OpenSite;
  const entries = read.map(({ seq, event, occurredAt, isDecoy }) => {
    // What is found at a decoy is written down, and no webhook is called for it.
    const { type, deviceId, data, logged, isQuiet = false }: LogEntry = isDecoy ? { type: event.type, deviceId: null, data: event.data, isQuiet: true } : projectionOf(projections, event).apply(event, { ...site, receivedAt });
    return {
      type, deviceId, data, ...(logged && { logged }), siteId: probe.siteId, probeId: probe.probeId, queueId: batch.queueId, probeSeq: seq,
      occurredAt, receivedAt, seenAt: event.occurred_at,
      isLate: event.occurred_at < batch.lateBefore, isQuiet,
    };
  });
  const storm = read.length > 0 ? site.announcements.news() : null;
  return storm === null ? entries : [...entries, {
    type: "discovery_storm", deviceId: null, data: storm, siteId: probe.siteId, probeId: probe.probeId, queueId: null, probeSeq: null,
    occurredAt: receivedAt, receivedAt,
  }];
}

/** A site while batches are applied to it. */
interface OpenSite {
  readonly set: WorkingSet;
  readonly announcements: Announcements;
}

/** What is to be read of a site, and the interfaces that are seen there with keys. */
function siteOf(projections: Projections, { tenantId, siteId }: Site, events: readonly ProbeEvent[]): {
  readonly wanted: Wanted; readonly shown: readonly ShownInterface[];
} {
  const hosts: HostRef[] = [];
  const withAddresses: HostRef[] = [];
  const withPorts: HostRef[] = [];
  const withSoftware: HostRef[] = [];
  for (const event of events) {
    const { hosts: hostsOf, touches } = projectionOf(projections, event);
    for (const ref of hostsOf(event)) {
      hosts.push(ref);
      if (touches === "addresses") withAddresses.push(ref);
      if (touches === "ports") withPorts.push(ref);
      if (touches === "software") withSoftware.push(ref);
    }
  }
  const shown = events.flatMap(({ type, data, occurred_at: at }) => {
    if (type !== "host_found" && type !== "host_changed") return [];
    const keys = keysOf(data);
    return keys.length === 0 ? [] : [{ tenantId, siteId, mac: data.mac, keys, at }];
  });
  const chassis = events.flatMap((event) => (event.type === "neighbor_discovered" ? chassisKeys(event.data) : []));
  const keys = new Set([...shown.flatMap((one) => one.keys), ...chassis].map(keyText));
  return { wanted: { site: { tenantId, siteId }, hosts, withAddresses, withPorts, withSoftware, keys: [...keys] }, shown };
}

/** A host that turned out to be a device that is known was not found but has changed: a phone with another MAC is nothing new. */
function asJoined(entry: NewEvent, joined: ReadonlyMap<string, string>): NewEvent {
  const deviceId = entry.deviceId === null ? undefined : joined.get(entry.deviceId);
  if (deviceId === undefined) return entry;
  if (entry.type !== "host_found") return { ...entry, deviceId };
  return { ...entry, deviceId, type: "host_changed", data: { ...entry.data, changed: ["addresses"] } };
}
