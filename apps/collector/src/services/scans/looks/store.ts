import { type Selectable, type Transaction } from "kysely";
import { selectIn } from "../../../db/query/select-in.ts";
import { updateMany, upsertMany } from "../../../db/query/write-many.ts";
import type { Schema } from "../../../db/schema.ts";
import { noteSoftwareChanges } from "../../../software/changes-store.ts";
import { NO_SOFTWARE } from "../../../software/columns.ts";
import { macKind } from "../../../identity/macs.ts";

type Trx = Transaction<Schema>;
/** A port of a device, by its key. */
export type PortKey = Pick<Selectable<Schema["ports"]>, "device_id" | "port" | "protocol">;
/** A port that is open, and what answers there; empty while nothing has named it. */
export type OpenPort = PortKey & Pick<Selectable<Schema["ports"]>, "tenant_id" | "product">;

/** Distinct lists of ports that scans of a site ask: more than the profiles of many versions of the probe. */
const MAX_SCOPES = 16;
/** Devices in one statement. */
const DEVICES_AT_ONCE = 256;

/** Writes lists of ports. Of a site, those that were used longest ago make room, and the looks by them go too. */
export async function saveScopes(trx: Trx, scopes: readonly Schema["port_scopes"][]): Promise<void> {
  if (scopes.length === 0) return;
  await upsertMany(trx, "port_scopes", { key: ["id"], update: ["used_at"], newerBy: "used_at" }, scopes);
  for (const siteId of new Set(scopes.map(({ site_id }) => site_id))) {
    const gone = await trx.selectFrom("port_scopes").select("id").where("site_id", "=", siteId).orderBy("used_at", "desc").orderBy("id", "desc")
      .offset(MAX_SCOPES).limit(MAX_SCOPES).execute();
    if (gone.length === 0) continue;
    const ids = gone.map(({ id }) => id);
    await trx.deleteFrom("port_looks").where("scope_id", "in", ids).execute();
    await trx.deleteFrom("port_scopes").where("id", "in", ids).execute();
  }
}

/** Which ports a scan asks; undefined where that is not known any more. */
export function readScope(trx: Trx, scopeId: string): Promise<Schema["port_scopes"] | undefined> {
  return trx.selectFrom("port_scopes").selectAll().where("id", "=", scopeId).executeTakeFirst();
}

/** The devices that have these hosts' MACs or, without one, their addresses now: by `ip_key` of the hosts. */
export async function devicesOf(
  trx: Trx, siteId: string, hosts: readonly { readonly ip: string; readonly ip_key: string; readonly mac: string }[],
): Promise<ReadonlyMap<string, string>> {
  const isByMac = ({ mac }: { readonly mac: string }) => mac !== "" && macKind(mac) !== "shared";
  const byMac = new Map((await selectIn(hosts.filter(isByMac).map(({ mac }) => mac), (list) =>
    trx.selectFrom("interfaces").select(["mac", "device_id"]).where("site_id", "=", siteId).where("mac", "in", list).execute()))
    .map((row) => [row.mac, row.device_id]));
  const rows = await selectIn(hosts.filter((host) => !isByMac(host)).map(({ ip }) => ip), (list) =>
    trx.selectFrom("addresses").select(["ip", "mac", "device_id"]).where("site_id", "=", siteId).where("ip", "in", list).where("current", "=", 1)
      .orderBy("last_seen").execute());
  // The last one wins: a device that is known by this address alone, then the one that was seen there last.
  const byIp = new Map(rows.toSorted((a, b) => Number(a.mac === "") - Number(b.mac === "")).map((row) => [row.ip, row.device_id]));
  return new Map(hosts.flatMap((host) => {
    const device = isByMac(host) ? byMac.get(host.mac) : byIp.get(host.ip);
    return device === undefined ? [] : [[host.ip_key, device] as const];
  }));
}

/** The addresses that devices have now. */
export function addressesOf(trx: Trx, deviceIds: readonly string[]) {
  return selectIn(deviceIds, (list) =>
    trx.selectFrom("addresses").select(["device_id", "ip", "ip_key"]).distinct().where("device_id", "in", list).where("current", "=", 1).execute());
}

/** Hosts of a scan whose ports were counted. `port_counts` is JSON text. */
export function countedHosts(trx: Trx, scanId: string, ipKeys: readonly string[]) {
  return selectIn(ipKeys, (list) => trx.selectFrom("scan_hosts").select(["ip_key", "port_counts"]).where("scan_id", "=", scanId)
    .where("ip_key", "in", list).where("port_counts", "is not", null).$narrowType<{ port_counts: string }>().execute());
}

/** What a scan found open at these addresses. */
export function foundOpen(trx: Trx, scanId: string, ipKeys: readonly string[]) {
  return selectIn(ipKeys, (list) => trx.selectFrom("scan_ports").select(["ip_key", "port", "protocol"]).where("scan_id", "=", scanId)
    .where("ip_key", "in", list).where("state", "=", "open").execute());
}

/**
 * Ports of devices that are open and were last seen so before an instant.
 * @param limit Rows to read at most.
 * @returns Those of the first devices in order: `whole` are all devices whose ports are complete.
 */
export async function openBefore(
  trx: Trx, deviceIds: readonly string[], { before, limit }: { readonly before: string; readonly limit: number },
): Promise<{ readonly whole: ReadonlySet<string>; readonly ports: readonly OpenPort[] }> {
  const ids = deviceIds.toSorted();
  const ports: OpenPort[] = [];
  for (let at = 0; at < ids.length; at += DEVICES_AT_ONCE) {
    const left = limit - ports.length;
    const rows = await trx.selectFrom("ports").select(["device_id", "port", "protocol", "tenant_id", "product"]).where("device_id", "in", ids.slice(at, at + DEVICES_AT_ONCE))
      .where("state", "=", "open").where("last_scanned", "<", before).orderBy("device_id").limit(left + 1).execute();
    const cut = rows.length > left ? rows.at(-1)?.device_id : undefined;
    ports.push(...rows.filter(({ device_id }) => device_id !== cut));
    if (cut !== undefined) return { whole: new Set(ids.slice(0, ids.indexOf(cut))), ports };
  }
  return { whole: new Set(ids), ports };
}

/** Writes ports as closed, without what answered there, and which ports of their devices are open then. */
export async function closePorts(trx: Trx, closed: readonly (OpenPort & { readonly last_scanned: string })[]): Promise<void> {
  if (closed.length === 0) return;
  const named = new Map(closed.filter(({ product }) => product !== "").map((port) => [port.device_id, port]));
  await noteSoftwareChanges(trx, [...named.values()].map(({ device_id, tenant_id, last_scanned: since }) => ({ device_id, tenant_id, since })));
  await updateMany(trx, "ports", closed.map(({ device_id, port, protocol, last_scanned }) => ({
    device_id, port, protocol, state: "closed", service: "", version: "", banner: "", last_scanned, ...NO_SOFTWARE,
  })), ["device_id", "port", "protocol"]);
  const keyOf = ({ device_id, port }: Pick<PortKey, "device_id" | "port">) => `${device_id} ${port}`;
  const devices = new Set(closed.map(({ device_id }) => device_id));
  // The same number may be open by the other protocol.
  const numbers = [...new Set(closed.map(({ port }) => port))];
  const stillOpen = new Set((await selectIn([...devices], (list) =>
    trx.selectFrom("ports").select(["device_id", "port"]).where("device_id", "in", list).where("port", "in", numbers).where("state", "=", "open")
      .execute())).map(keyOf));
  const gone = new Set(closed.map(keyOf).filter((key) => !stillOpen.has(key)));
  const rows = await selectIn([...devices], (list) => trx.selectFrom("devices").select(["id", "open_ports"]).where("id", "in", list).execute());
  const changed = new Map(rows.map(({ id, open_ports: open }) => [
    id, JSON.stringify((JSON.parse(open) as number[]).filter((port) => !gone.has(keyOf({ device_id: id, port })))),
  ]));
  await updateMany(trx, "devices", [...changed].map(([id, open_ports]) => ({ id, open_ports })));
}

/** Writes when devices were looked at; an earlier look changes nothing. */
export async function saveLooks(trx: Trx, looks: readonly Schema["port_looks"][]): Promise<void> {
  await upsertMany(trx, "port_looks", { key: ["device_id", "scope_id"], update: ["looked_at", "scan_id"], newerBy: "looked_at" }, looks);
}
