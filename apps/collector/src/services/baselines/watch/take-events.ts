import type { EventType } from "@lanthorn/contract";
import { nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import type { Schema } from "../../../db/schema.ts";
import type { EventLog } from "../../../events/log.ts";
import type { SiteLinks } from "../facts/links.ts";
import { baselinesOfDevices, baselinesOfSites, markAllDue, markDue } from "../store/baselines.ts";
import { cursors, setCursor, touched } from "../store/queue.ts";

/** Events after which a device may differ from its baseline. */
const OF_DEVICES = [
  "host_found", "host_changed", "host_online", "host_offline", "port_found", "neighbor_discovered", "neighbor_lost",
] as const satisfies readonly EventType[];
/** Events after which a site's cables are read again. */
const OF_LINKS: ReadonlySet<string> = new Set(["neighbor_discovered", "neighbor_lost", "neighbor_report"] satisfies EventType[]);
/** Events after which a site's network may. */
const OF_SITES: ReadonlySet<string> = new Set(["rogue_detected"] satisfies EventType[]);
const TYPES: readonly EventType[] = [...OF_DEVICES, "neighbor_report", "rogue_detected"];

/** Events that are read at once; with many devices in them, the transaction that marks them is some milliseconds. */
const AT_ONCE = 500;

/** Devices that events were about and that may have no baseline yet. */
export type TouchedDevices = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Marks what the events since the last time were about as to be compared, each tenant's in turn. Marks and cursor are one transaction:
 * nothing is lost when the collector ends between them. After a gap in the log everything is compared.
 * @returns Ids of devices by tenant.
 */
export async function takeEvents(
  deps: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly log: Pick<EventLog, "reach">; readonly links: SiteLinks },
  now: number, stopped: AbortSignal,
): Promise<TouchedDevices> {
  const found = new Map<string, Set<string>>();
  for (const { id: tenantId, seq } of await cursors(deps.reads)) {
    const { first, last } = await deps.log.reach(tenantId);
    const hasGap = seq !== null && first > seq + 1;
    let from = seq === null || hasGap ? last : seq;
    if (hasGap) await markAllDue(deps.db, { tenantId, siteId: null }, toInstant(now));
    if (seq === null || hasGap) await inTurn(deps.db, tenantId, (trx) => setCursor(trx, tenantId, last));
    for (; from < last && !stopped.aborted; from = Math.min(from + AT_ONCE, last)) {
      const upTo = Math.min(from + AT_ONCE, last);
      const devices = await takeSome(deps, tenantId, { from, upTo, at: toInstant(now) });
      const ofTenant = found.get(tenantId) ?? new Set();
      for (const id of devices) ofTenant.add(id);
      found.set(tenantId, ofTenant);
      await nextTurn();
    }
  }
  return found;
}

async function takeSome(
  { db, reads, links }: Parameters<typeof takeEvents>[0], tenantId: string, { from, upTo, at }: { readonly from: number; readonly upTo: number; readonly at: string },
): Promise<readonly string[]> {
  const rows = await touched(reads, tenantId, { from, upTo, types: TYPES });
  const devices = [...new Set(rows.flatMap(({ device_id: id }) => id ?? []))];
  const sitesOf = (types: ReadonlySet<string>) => new Set(rows.flatMap(({ type, site_id: id }) => (types.has(type) && id !== null ? [id] : [])));
  links.changed(sitesOf(OF_LINKS));
  const due = [...await baselinesOfDevices(reads, devices), ...await baselinesOfSites(reads, [...sitesOf(OF_SITES)])].map(({ id }) => id);
  await inTurn(db, tenantId, async (trx) => {
    await markDue(trx, due, at);
    await setCursor(trx, tenantId, upTo);
  });
  return devices;
}
