import { MAX_DNS_VLAN_NETWORKS } from "@lanthorn/contract";
import type { VlanNetwork } from "@lanthorn/dns";
import type { Kysely, Selectable, Transaction } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import { siteExists, siteIdsOf } from "../../../db/locks/site-exists.ts";
import { selectIn } from "../../../db/query/select-in.ts";
import type { Schema } from "../../../db/schema.ts";

/** A policy as stored. */
export type PolicyRow = Selectable<Schema["dns_policies"]>;
/** A rule, allowance or pause as stored. */
export type DecisionRow = Selectable<Schema["dns_decisions"]>;
/** A device as far as policies look at it. */
export interface DeviceFacts {
  readonly id: string;
  readonly site_id: string;
  readonly name: string;
  readonly ip: string;
  readonly groups: readonly string[];
}
/** Sorted. */
export interface DeviceAddresses {
  readonly ips: string[];
  readonly macs: string[];
}
type Trx = Transaction<Schema>;

/** What operators decide. Decisions that have ended at `now` are not there. */
export interface PoliciesStore {
  /** Work under the tenant's lock. */
  locked<T>(tenantId: string, work: (trx: Trx) => Promise<T>): Promise<T>;
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  sites(tenantId: string): Promise<readonly string[]>;
  device(tenantId: string, id: string): Promise<DeviceFacts | null>;
  /** Devices of these ids, and those of a site that have a tag, the first 10,000. */
  devices(siteId: string, ids: readonly string[], withTags: boolean): Promise<readonly DeviceFacts[]>;
  /** Addresses that devices have now, by their ids; of each the first 64. */
  addresses(deviceIds: readonly string[]): Promise<ReadonlyMap<string, DeviceAddresses>>;
  /** Networks of VLANs in a site's address plan and in the plan of all sites, by network; the first 2,000. */
  vlanNetworks(tenantId: string, siteId: string, vlans: readonly number[]): Promise<readonly VlanNetwork[]>;
  /** In the order in which they were made. */
  policies(handle: Trx | null, tenantId: string): Promise<readonly PolicyRow[]>;
  addPolicy(trx: Trx, row: PolicyRow): Promise<void>;
  setPolicy(trx: Trx, id: string, columns: Partial<PolicyRow>): Promise<void>;
  removePolicy(trx: Trx, id: string): Promise<void>;
  /** In the order in which they were made. */
  decisions(handle: Trx | null, tenantId: string, now: string): Promise<readonly DecisionRow[]>;
  addDecision(trx: Trx, row: DecisionRow): Promise<void>;
  removeDecision(trx: Trx, id: string): Promise<void>;
  /** Forgets a tenant's decisions that have ended. */
  forgetEnded(trx: Trx, tenantId: string, now: string): Promise<void>;
}

const MAX_DEVICES = 10_000;
const MAX_ADDRESSES = 64;

/** Over the collector's database. */
export function createPoliciesStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): PoliciesStore {
  const columns = ["id", "site_id", "hostname", "ip", "tags"] as const;
  return {
    locked: (tenantId, work) => inTurn(db, tenantId, work),
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    sites: (tenantId) => siteIdsOf(reads, tenantId),
    async device(tenantId, id) {
      const row = await reads.selectFrom("devices").select(columns).where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
      return row ? toFacts(row) : null;
    },
    async devices(siteId, ids, withTags) {
      if (ids.length === 0 && !withTags) return [];
      const rows = await reads.selectFrom("devices").select(columns).where("site_id", "=", siteId)
        .where((eb) => eb.or([...(ids.length > 0 ? [eb("id", "in", [...ids])] : []), ...(withTags ? [eb("tags", "!=", "[]")] : [])])).orderBy("id").limit(MAX_DEVICES).execute();
      return rows.map(toFacts);
    },
    async addresses(deviceIds) {
      const found = new Map(deviceIds.map((id): [string, DeviceAddresses] => [id, { ips: [], macs: [] }]));
      const keep = (list: string[] | undefined, value: string) => {
        if (list && list.length < MAX_ADDRESSES) list.push(value);
      };
      const ips = await selectIn(deviceIds, (ids) => reads.selectFrom("addresses").select(["device_id", "ip"]).distinct().where("device_id", "in", ids).where("current", "=", 1).orderBy("ip").execute());
      const macs = await selectIn(deviceIds, (ids) => reads.selectFrom("interfaces").select(["device_id", "mac"]).where("device_id", "in", ids).where("mac", "!=", "").orderBy("mac").execute());
      for (const { device_id: id, ip } of ips) keep(found.get(id)?.ips, ip);
      for (const { device_id: id, mac } of macs) keep(found.get(id)?.macs, mac);
      return found;
    },
    async vlanNetworks(tenantId, siteId, vlans) {
      const rows = await selectIn(vlans, (list) => reads.selectFrom("ipam_prefixes").select(["vlan_id", "prefix", "sort_key"]).where("tenant_id", "=", tenantId).where("scope", "in", ["", siteId])
        .where("vlan_id", "in", list).execute());
      const sorted = rows.toSorted((a, b) => (a.sort_key < b.sort_key ? -1 : 1)).slice(0, MAX_DNS_VLAN_NETWORKS);
      return sorted.flatMap(({ vlan_id: vlan, prefix: network }) => (vlan === null ? [] : [{ vlan, network }]));
    },
    policies: (handle, tenantId) => (handle ?? reads).selectFrom("dns_policies").selectAll().where("tenant_id", "=", tenantId).orderBy("id").execute(),
    async addPolicy(trx, row) {
      await trx.insertInto("dns_policies").values(row).execute();
    },
    async setPolicy(trx, id, changed) {
      await trx.updateTable("dns_policies").set(changed).where("id", "=", id).execute();
    },
    async removePolicy(trx, id) {
      await trx.deleteFrom("dns_policies").where("id", "=", id).execute();
    },
    decisions: (handle, tenantId, now) => (handle ?? reads).selectFrom("dns_decisions").selectAll().where("tenant_id", "=", tenantId)
      .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)])).orderBy("id").execute(),
    async addDecision(trx, row) {
      await trx.insertInto("dns_decisions").values(row).execute();
    },
    async removeDecision(trx, id) {
      await trx.deleteFrom("dns_decisions").where("id", "=", id).execute();
    },
    async forgetEnded(trx, tenantId, now) {
      await trx.deleteFrom("dns_decisions").where("tenant_id", "=", tenantId).where("expires_at", "<=", now).execute();
    },
  };
}

function toFacts({ hostname, tags, ...row }: Pick<Selectable<Schema["devices"]>, "id" | "site_id" | "hostname" | "ip" | "tags">): DeviceFacts {
  return { ...row, name: hostname, groups: JSON.parse(tags) as readonly string[] };
}
