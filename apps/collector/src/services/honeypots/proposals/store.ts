import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Candidate, DeviceGroup } from "./groups.ts";

/** The inventory, as proposals need it. */
export interface ProposalsStore {
  /** Kinds of devices of a tenant, those of which there are most first. @param siteId Undefined for all sites. */
  groups(tenantId: string, siteId: string | undefined): Promise<readonly DeviceGroup[]>;
  /** Some devices of a candidate, those with the highest addresses first; IPv4 only. */
  members(tenantId: string, candidate: Candidate): Promise<readonly { readonly ip: string; readonly hostname: string }[]>;
}

const MAX_GROUPS = 5000;
const MAX_MEMBERS = 200;

/** Over committed rows. */
export function createProposalsStore({ reads }: { readonly reads: Kysely<Schema> }): ProposalsStore {
  return {
    async groups(tenantId, siteId) {
      let query = reads.selectFrom("devices")
        .select((eb) => ["site_id", "vendor", "device_type", "os_guess", sql<string>`substr(mac, 1, 8)`.as("block"), eb.fn.countAll<number>().as("devices")])
        .where("tenant_id", "=", tenantId).where("mac", "<>", "")
        .groupBy(["site_id", "vendor", "device_type", "os_guess", sql`substr(mac, 1, 8)`]).orderBy("devices", "desc").limit(MAX_GROUPS);
      if (siteId !== undefined) query = query.where("site_id", "=", siteId);
      return (await query.execute()).map(({ site_id: site, vendor, device_type: deviceType, os_guess: system, block, devices }) => ({ siteId: site, vendor, deviceType, system, block, devices }));
    },
    members(tenantId, { siteId, groups }) {
      const values = (of: (group: DeviceGroup) => string) => [...new Set(groups.map(of))].slice(0, MAX_MEMBERS);
      return reads.selectFrom("devices").select(["ip", "hostname"]).where("tenant_id", "=", tenantId).where("site_id", "=", siteId).where("ip_key", "like", "4%")
        .where("vendor", "in", values(({ vendor }) => vendor)).where("device_type", "in", values(({ deviceType }) => deviceType))
        .where("os_guess", "in", values(({ system }) => system)).orderBy("ip_key", "desc").limit(MAX_MEMBERS).execute();
    },
  };
}
