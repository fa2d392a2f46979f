import type { MapPins, MapPinsUpdate } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { notFound, requireSite } from "../../gateway/errors.ts";
import type { PinsRow, WorkspaceStore } from "./store.ts";

/** Where people have put the nodes of a site's map: the same for all of the tenant. */
export interface MapPinsService {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  read(tenantId: string, siteId: string): Promise<MapPins>;
  /** @throws ApiError NOT_FOUND. */
  update(actor: Actor, siteId: string, change: MapPinsUpdate): Promise<MapPins>;
}

/** Of a change the audit log has how many are pinned, not where. */
export function createMapPins({ store, audit, clock }: {
  readonly store: WorkspaceStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
}): MapPinsService {
  return {
    async read(tenantId, siteId) {
      await requireSite(store, tenantId, siteId);
      return toPins(siteId, await store.pins(tenantId, siteId));
    },

    update: (actor, siteId, { pins }) => store.transaction(async (trx) => {
      const before = await store.holdPins(trx, actor.tenantId, siteId);
      if (before === false) throw notFound("site");
      const row = { site_id: siteId, tenant_id: actor.tenantId, pins: JSON.stringify(pins), updated_by: actor.name, updated_at: toInstant(clock.now()) };
      await store.setPins(trx, row);
      const count = toPins(siteId, before).pins.length;
      await audit(trx, { actor, action: "map_pins.update", target: { type: "site", id: siteId }, before: { pins: count }, after: { pins: pins.length } });
      return toPins(siteId, row);
    }),
  };
}

function toPins(siteId: string, row: PinsRow | null): MapPins {
  return {
    site_id: siteId, pins: row === null ? [] : JSON.parse(row.pins) as MapPins["pins"], updated_by: row?.updated_by ?? null, updated_at: row?.updated_at ?? null,
  };
}
