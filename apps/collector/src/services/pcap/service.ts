import { alertIdOf, type Clock, toInstant } from "@lanthorn/runtime";
import { type AlertEvidence, type List, momentToInstant, type Pcap, type PcapContents, type PcapsQuery } from "@lanthorn/contract";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { pageBySort } from "../../gateway/page.ts";
import type { Errands } from "./errands/errands.ts";
import type { CaptureStore } from "./files/capture-store.ts";
import { toAudited, toContents, toPcap } from "./records.ts";
import type { LinkChoice, PcapFilter, PcapsStore } from "./store/pcaps-store.ts";

/** Captures as records. */
export interface PcapsService {
  /** Newest first. */
  list(tenantId: string, query: PcapsQuery): Promise<List<Pcap>>;
  /** The newest captures of an alert, by their ids. */
  newestOfAlert(tenantId: string, alertId: string, limit: number): Promise<string[]>;
  /** @throws ApiError NOT_FOUND, as all below. */
  read(tenantId: string, id: string): Promise<Pcap>;
  summary(tenantId: string, id: string): Promise<PcapContents>;
  /** Keeps it as evidence. @throws ApiError CONFLICT where the site's locked files have all their room. */
  lock(actor: Actor, id: string, reason: string): Promise<Pcap>;
  unlock(actor: Actor, id: string): Promise<Pcap>;
  /** Removes it here and at the probe. @throws ApiError CONFLICT for a locked one. */
  delete(actor: Actor, id: string): Promise<void>;
}

/** What changes of captures need. */
export interface PcapsServiceDependencies {
  readonly store: PcapsStore;
  readonly files: Pick<CaptureStore, "remove">;
  readonly errands: Pick<Errands, "tell">;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  readonly keepLockedMegabytes: number;
}

/** Each change writes its audit record, with the file's SHA-256, in the same transaction. */
export function createPcapsService(deps: PcapsServiceDependencies): PcapsService {
  const { store, files, audit, clock } = deps;
  const now = () => toInstant(clock.now());
  const found = <T>(row: T | null): T => {
    if (row === null) throw notFound("capture");
    return row;
  };
  return {
    async list(tenantId, query) {
      const filter = await filterOf(store, tenantId, query, clock.now());
      return pageBySort({ ...query, sort: "-happened_at" }, {
        read: async (page) => filter === null ? { rows: [], total: 0 }
          : { rows: await store.list(tenantId, filter, page), total: await store.count(tenantId, filter) },
        positionOf: ({ happened_at: value, id }) => ({ value, id }), show: toPcap,
      });
    },
    async newestOfAlert(tenantId, alertId, limit) {
      const filter = await filterOf(store, tenantId, { alert_id: alertId }, clock.now());
      return filter === null ? [] : (await store.list(tenantId, filter, { from: 0, limit })).map(({ id }) => id);
    },
    read: async (tenantId, id) => toPcap(found(await store.byId(tenantId, id))),
    summary: async (tenantId, id) => toContents(found(await store.byId(tenantId, id))),
    async lock(actor, id, reason) {
      const locked = found(await store.change(actor.tenantId, id, async (trx, row) => {
      if (row.locked_at !== null) return null;
      if (row.state === "requested" || row.state === "recording") throw new ApiError("CONFLICT", "the capture still runs: stop it, or wait", { details: { state: row.state } });
      const bytes = await store.lockedBytes(trx, row.site_id);
      if (bytes + (row.stored_at === null ? row.size_bytes : row.stored_bytes) > deps.keepLockedMegabytes * 1e6) {
        throw new ApiError("CONFLICT", `the site's locked captures may have ${deps.keepLockedMegabytes} MB (pcap.keep_locked_megabytes): unlock or download some first`);
      }
      const lock = { locked_at: now(), locked_by: actor.name, lock_reason: reason };
      await audit(trx, { actor, action: "pcap.lock", target: { type: "pcap", id }, before: toAudited(row), after: { ...toAudited(row), reason } });
      return { ...lock, updated_at: now() };
      }));
      // A probe keeps a file for some days only.
      if (locked.state === "at_probe") deps.errands.tell({ tenantId: actor.tenantId, probeId: locked.probe_id });
      return toPcap(locked);
    },
    unlock: async (actor, id) => toPcap(found(await store.change(actor.tenantId, id, async (trx, row) => {
      if (row.locked_at === null) return null;
      await audit(trx, { actor, action: "pcap.unlock", target: { type: "pcap", id }, before: { ...toAudited(row), reason: row.lock_reason }, after: toAudited(row) });
      return { locked_at: null, locked_by: null, lock_reason: null, updated_at: now() };
    }))),
    async delete(actor, id) {
      const row = found(await store.change(actor.tenantId, id, async (trx, current) => {
        if (current.locked_at !== null) throw new ApiError("CONFLICT", "the capture is locked as evidence: unlock it first", { details: { locked_by: current.locked_by } });
        await audit(trx, { actor, action: "pcap.delete", target: { type: "pcap", id }, before: toAudited(current), after: null });
        return { deleted_at: now(), updated_at: now(), stored_at: null, stored_bytes: 0, key_sealed: null, summary: null };
      }));
      await files.remove(id);
      deps.errands.tell({ tenantId: actor.tenantId, probeId: row.probe_id });
    },
  };
}

/** @returns Null where nothing can be found, as for a device of another tenant. */
async function filterOf(store: PcapsStore, tenantId: string, query: Omit<PcapsQuery, "page" | "per_page">, now: number): Promise<PcapFilter | null> {
  const links: LinkChoice[] = [];
  let siteId = query.site_id;
  if (query.alert_id !== undefined) links.push([["alert", await alertIds(store, tenantId, query.alert_id)]]);
  if (query.device_id !== undefined) {
    const device = await store.deviceLinks(tenantId, query.device_id);
    if (!device || (siteId !== undefined && siteId !== device.siteId) || device.macs.length + device.ips.length === 0) return null;
    siteId = device.siteId;
    links.push([["mac", device.macs], ["ip", device.ips]]);
  }
  const moment = (text: string | undefined) => (text === undefined ? undefined : momentToInstant(text, now));
  return {
    siteId, probeId: query.probe_id, trigger: query.trigger, state: query.state, locked: query.locked, since: moment(query.since), until: moment(query.until),
    links,
  };
}

/** The ids by which probes may know an alert: that of their own incident, where another probe's made the alert. */
async function alertIds(store: PcapsStore, tenantId: string, alertId: string): Promise<readonly string[]> {
  const alert = await store.alertFacts(tenantId, alertId);
  if (!alert) return [alertId];
  const incidents = (JSON.parse(alert.evidence) as AlertEvidence[]).flatMap(({ data }) =>
    (typeof data["incident_id"] === "string" ? [data["incident_id"]] : []));
  const probes = [...Object.keys(JSON.parse(alert.reporters) as object), alert.probe_id ?? ""].filter(Boolean);
  return [...new Set([alertId, ...probes.flatMap((probeId) => incidents.map((incident) => alertIdOf(probeId, incident)))])];
}
