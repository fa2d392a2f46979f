import type { Kysely } from "kysely";
import { listQuery } from "../../db/query/list-query.ts";
import type { Schema } from "../../db/schema.ts";
import { among } from "../../db/query/select-in.ts";
import { SOFTWARE_COLUMNS } from "../../software/columns.ts";
import { type HostRef, identified } from "../devices/devices-draft.ts";
import { createWorkingSet, type HeldRows, type Site, type WorkingSet } from "../working-set.ts";

/** What to read of a site before batches are applied there. */
export interface Wanted {
  readonly site: Site;
  readonly hosts: readonly HostRef[];
  /** Hosts whose addresses, ports or own software will be changed. */
  readonly withAddresses: readonly HostRef[];
  readonly withPorts: readonly HostRef[];
  readonly withSoftware: readonly HostRef[];
  /** Keys that hosts show, as `keyText` writes them. */
  readonly keys: readonly string[];
}

const DEVICE_COLUMNS = [
  "devices.id", "devices.ip", "devices.ip_key", "devices.mac", "devices.hostname", "devices.vendor", "devices.is_online",
  "devices.presence_state", "devices.first_seen", "devices.last_seen", "devices.open_ports", "devices.locked_fields",
  "devices.mac_count", "devices.os_guess", "devices.device_type", "devices.verdicts",
] as const;

/** In the order in which new rows have them: rows of one statement must not differ in it. */
const ADDRESS_COLUMNS = ["device_id", "tenant_id", "site_id", "mac", "ip", "ip_key", "first_seen", "last_seen", "current"] as const;

/** A site and what is looked for there. */
type AtSite = readonly [siteId: string, value: string];

const devicesByMac = listQuery((db, list: readonly AtSite[]) => db.selectFrom("interfaces")
  .innerJoin("devices", "devices.id", "interfaces.device_id")
  .select(DEVICE_COLUMNS).select(["interfaces.site_id", "interfaces.mac as interface_mac", "interfaces.vendor as interface_vendor"])
  .where(among(["interfaces.site_id", "interfaces.mac"], list)));

const devicesByIp = listQuery((db, list: readonly AtSite[]) => db.selectFrom("addresses")
  .innerJoin("devices", "devices.id", "addresses.device_id")
  .select(DEVICE_COLUMNS).select(["addresses.site_id", "addresses.ip as address_ip"])
  .where(among(["addresses.site_id", "addresses.ip"], list)).where("addresses.current", "=", 1)
  // The last one read wins: a device known by its address alone, then the one last seen there by its MAC.
  .orderBy((eb) => eb.case().when("devices.mac", "=", "").then(2).when("addresses.mac", "=", "").then(0).else(1).end())
  .orderBy("addresses.last_seen"));

const interfacesOf = listQuery((db, ids: readonly string[]) =>
  db.selectFrom("interfaces").select(["device_id", "mac", "presence_state"]).where("device_id", "in", ids));

const keysAt = listQuery((db, list: readonly AtSite[]) =>
  db.selectFrom("device_keys").select(["device_id", "site_id", "key"]).where(among(["site_id", "key"], list)));

const currentAddressesOf = listQuery((db, ids: readonly string[]) =>
  db.selectFrom("addresses").select(ADDRESS_COLUMNS).where("device_id", "in", ids).where("current", "=", 1));

const portsOf = listQuery((db, ids: readonly string[]) =>
  db.selectFrom("ports").select(["device_id", "port", "protocol", "state", "last_scanned"]).select(SOFTWARE_COLUMNS)
    .where("device_id", "in", ids));

const softwareOf = listQuery((db, ids: readonly string[]) =>
  db.selectFrom("device_software").select(["device_id", "tenant_id", "source"]).select(SOFTWARE_COLUMNS).select(["first_seen", "last_seen"])
    .where("device_id", "in", ids));

/** A site's set while it is filled. */
interface Filling {
  readonly wanted: Wanted;
  readonly set: WorkingSet;
  readonly hold: HeldRows;
}

/**
 * Reads what batches touch, of all their sites at once: the probes of many small sites would else cost a handful of statements
 * for each of them.
 * @param wanted No site twice.
 * @returns In the order of `wanted`.
 */
export async function loadWorkingSets(trx: Kysely<Schema>, wanted: readonly Wanted[]): Promise<readonly WorkingSet[]> {
  const all = wanted.map((one): Filling => ({ wanted: one, ...createWorkingSet(one.site) }));
  const sites = new Map(all.map((filling) => [filling.wanted.site.siteId, filling]));
  await readHosts(trx, all, sites);
  /** Each device's site. */
  const owners = new Map(all.flatMap((filling) => [...filling.set.devices.keys()].map((id) => [id, filling] as const)));
  const several = all.flatMap(({ set }) => [...set.devices.values()].filter(({ interfaces }) => interfaces !== null).map(({ id }) => id));
  for (const row of await interfacesOf(trx, several)) {
    owners.get(row.device_id)?.hold.interfaceOf(row.device_id, row.mac, row.presence_state);
  }
  const keys = all.flatMap(({ wanted: { site, keys: texts } }) => texts.map((text) => [site.siteId, text] as const));
  for (const row of await keysAt(trx, keys)) {
    sites.get(row.site_id)?.hold.key(row.device_id, row.key);
  }
  const withAddresses = all.flatMap((filling) => idsOf(filling, filling.wanted.withAddresses));
  for (const row of await currentAddressesOf(trx, distinct([...withAddresses, ...several]))) {
    owners.get(row.device_id)?.hold.address(row);
  }
  const withPorts = all.flatMap((filling) => idsOf(filling, filling.wanted.withPorts));
  for (const row of await portsOf(trx, withPorts)) {
    owners.get(row.device_id)?.hold.port(row);
  }
  for (const row of await softwareOf(trx, all.flatMap((filling) => idsOf(filling, filling.wanted.withSoftware)))) {
    owners.get(row.device_id)?.hold.software(row);
  }
  return all.map(({ set }) => set);
}

async function readHosts(trx: Kysely<Schema>, all: readonly Filling[], sites: ReadonlyMap<string, Filling>): Promise<void> {
  const hosts = all.map(({ wanted }) => ({ siteId: wanted.site.siteId, refs: wanted.hosts.map(identified) }));
  const macs = hosts.flatMap(({ siteId, refs }) =>
    distinct(refs.map(({ mac }) => mac).filter(Boolean)).map((mac) => [siteId, mac] as const));
  for (const row of await devicesByMac(trx, macs)) {
    const { site_id, interface_mac, interface_vendor, ...device } = row;
    sites.get(site_id)?.hold.byMac(interface_mac, interface_vendor, device);
  }
  const ips = hosts.flatMap(({ siteId, refs }) =>
    distinct(refs.filter(({ mac }) => mac === "").map(({ ip }) => ip)).map((ip) => [siteId, ip] as const));
  for (const row of await devicesByIp(trx, ips)) {
    const { site_id, address_ip, ...device } = row;
    sites.get(site_id)?.hold.byIp(address_ip, device);
  }
}

function idsOf({ set }: Filling, refs: readonly HostRef[]): readonly string[] {
  return distinct(refs.flatMap((ref) => set.find(ref)?.id ?? []));
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
