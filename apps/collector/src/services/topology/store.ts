import { EVENTS, type NeighborDiscovered, type PortRole, type SwitchReport } from "@lanthorn/contract";
import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { selectIn } from "../../db/query/select-in.ts";
import { siteExists } from "../../db/locks/site-exists.ts";
import { type Candidate, type CandidateIndex, chassisKeyText, shortName } from "./match.ts";

/** A probe as the graph shows it: one node. */
export type ProbeRow = Pick<Selectable<Schema["probes"]>, "id" | "name" | "site_id" | "state" | "last_heard_at">;
/** A device as the graph shows it: one node. Not the device's whole row. */
export type DeviceRow = Pick<Selectable<Schema["devices"]>, "id" | "hostname" | "ip" | "mac" | "device_type" | "presence_state">;

/** A neighbor as its probe reported it last. */
export interface NeighborFact {
  readonly siteId: string;
  readonly probeId: string;
  readonly data: NeighborDiscovered;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly isCurrent: boolean;
  /** Heard by the probe itself unless given: reported by a switch for one of its ports, or what a switch says of itself. */
  readonly origin?: { readonly kind: "switch"; readonly key: string; readonly role: PortRole } | {
    readonly kind: "self"; readonly key: string;
  };
}

/** What a switch answered last. */
export interface SwitchFact {
  readonly siteId: string;
  readonly probeId: string;
  readonly report: SwitchReport;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly isCurrent: boolean;
}

/** Which of a tenant's are looked at. */
export interface TopologyFilter {
  readonly siteId: string | undefined;
  readonly includeGone: boolean;
}

/** The devices of a site that its neighbors may be. */
export interface Candidates {
  readonly index: CandidateIndex;
  readonly devices: ReadonlyMap<string, DeviceRow>;
}

/** What the graph is computed from. Stored data that no longer parses is left out. */
export interface TopologyStore {
  siteExists(tenantId: string, siteId: string): Promise<boolean>;
  /** Those that are there first, then the newest; at most `limit`. */
  neighbors(tenantId: string, filter: TopologyFilter, limit: number): Promise<readonly NeighborFact[]>;
  /** As `neighbors`. */
  switches(tenantId: string, filter: TopologyFilter, limit: number): Promise<readonly SwitchFact[]>;
  /** Not revoked. */
  probes(tenantId: string, siteId: string | undefined): Promise<readonly ProbeRow[]>;
  candidates(tenantId: string, siteId: string, neighbors: readonly NeighborDiscovered[], macs: readonly string[]): Promise<Candidates>;
}

const DEVICE_COLUMNS = [
  "devices.id", "devices.hostname", "devices.ip", "devices.mac", "devices.device_type", "devices.presence_state",
] as const;

/** `candidates` finds devices by MAC, chassis id, current address or the first label of their hostname. */
export function createTopologyStore({ reads }: { readonly reads: Kysely<Schema> }): TopologyStore {
  return {
    siteExists: (tenantId, siteId) => siteExists(reads, tenantId, siteId),
    async neighbors(tenantId, { siteId, includeGone }, limit) {
      let query = reads.selectFrom("neighbors").selectAll().where("tenant_id", "=", tenantId);
      if (siteId !== undefined) query = query.where("site_id", "=", siteId);
      if (!includeGone) query = query.where("current", "=", 1);
      const rows = await query.orderBy("current", "desc").orderBy("last_seen", "desc").orderBy("key").limit(limit).execute();
      return rows.flatMap((row): readonly NeighborFact[] => {
        const read = EVENTS.neighbor_discovered.data.safeParse(JSON.parse(row.data));
        if (!read.success) return [];
        return [{
          siteId: row.site_id, probeId: row.probe_id, data: read.data, firstSeen: row.first_seen, lastSeen: row.last_seen,
          isCurrent: row.current === 1,
        }];
      });
    },
    async switches(tenantId, { siteId, includeGone }, limit) {
      let query = reads.selectFrom("switch_reports").selectAll().where("tenant_id", "=", tenantId);
      if (siteId !== undefined) query = query.where("site_id", "=", siteId);
      if (!includeGone) query = query.where("current", "=", 1);
      const rows = await query.orderBy("current", "desc").orderBy("last_seen", "desc").orderBy("ip").limit(limit).execute();
      return rows.flatMap((row): readonly SwitchFact[] => {
        const read = EVENTS.switch_report.data.safeParse(JSON.parse(row.data));
        if (!read.success) return [];
        return [{
          siteId: row.site_id, probeId: row.probe_id, report: read.data, firstSeen: row.first_seen, lastSeen: row.last_seen,
          isCurrent: row.current === 1,
        }];
      });
    },
    probes(tenantId, siteId) {
      const query = reads.selectFrom("probes").select(["id", "name", "site_id", "state", "last_heard_at"]).where("tenant_id", "=", tenantId)
        .where("revoked_at", "is", null);
      return (siteId === undefined ? query : query.where("site_id", "=", siteId)).orderBy("id").execute();
    },
    async candidates(tenantId, siteId, neighbors, otherMacs) {
      const devices = new Map<string, DeviceRow>();
      const keep = (row: DeviceRow): Candidate => {
        const { id, hostname, ip, mac, device_type, presence_state } = row;
        if (!devices.has(id)) devices.set(id, { id, hostname, ip, mac, device_type, presence_state });
        return { id, hostname };
      };
      const values = (pick: (data: NeighborDiscovered) => readonly string[]) =>
        [...new Set(neighbors.flatMap(pick))].filter((value) => value !== "");
      const own = reads.selectFrom("devices").select(DEVICE_COLUMNS).where("devices.tenant_id", "=", tenantId)
        .where("devices.site_id", "=", siteId);

      const announced = values((data) => [data.chassis_id_type === "mac" ? data.chassis_id : "", data.source_mac ?? ""]);
      const macs = [...new Set([...announced, ...otherMacs])];
      const withMac = await selectIn(macs, (list) => own.innerJoin("interfaces", "interfaces.device_id", "devices.id")
        .select("interfaces.mac as value").where("interfaces.site_id", "=", siteId).where("interfaces.mac", "in", list).execute());
      const withKey = await selectIn(values((data) => [chassisKeyText(data)]), (list) => own.innerJoin(
        "device_keys", "device_keys.device_id", "devices.id",
      )
        .select("device_keys.key as value").where("device_keys.site_id", "=", siteId).where("device_keys.key", "in", list).execute());
      const withIp = await selectIn(values((data) => data.management_addresses), (list) => own.innerJoin(
        "addresses", "addresses.device_id", "devices.id",
      )
        .select("addresses.ip as value").where("addresses.site_id", "=", siteId).where("addresses.ip", "in", list)
        .where("addresses.current", "=", 1)
        .execute());
      const names = new Set(values((data) => [shortName(data.system_name)]));
      const withName = names.size === 0 ? [] : await own.select("devices.hostname as value").where("devices.hostname", "!=", "").execute();
      return {
        devices,
        index: {
          byMac: new Map(withMac.map((row) => [row.value, keep(row)])),
          byKey: grouped(withKey, keep),
          byIp: grouped(withIp, keep),
          byName: grouped(withName.map((row) => ({ ...row, value: shortName(row.value) })).filter(({ value }) => names.has(value)), keep),
        },
      };
    },
  };
}

/** The devices that have a value, each once. */
function grouped(
  rows: readonly (DeviceRow & { readonly value: string })[], keep: (row: DeviceRow) => Candidate,
): ReadonlyMap<string, readonly Candidate[]> {
  const groups = new Map<string, Map<string, Candidate>>();
  for (const row of rows) {
    const group = groups.get(row.value) ?? new Map<string, Candidate>();
    groups.set(row.value, group.set(row.id, keep(row)));
  }
  return new Map([...groups].map(([value, group]) => [value, [...group.values()]]));
}
