import { createHash } from "node:crypto";
import { holdsPort, PortCounts, type PortRangeList, readPortRanges } from "@lanthorn/contract";
import type { Transaction } from "kysely";
import * as z from "zod";
import type { Schema } from "../../../db/schema.ts";
import type { NewEvent } from "../../../events/log.ts";
import { addressesOf, closePorts, countedHosts, devicesOf, foundOpen, openBefore, type PortKey, readScope, saveLooks } from "./store.ts";

/** Open ports that one look reads, and so closes, at most: half a second. Devices beyond them are looked at by the next scan. */
const MAX_PORTS = 5000;

/** A host whose ports a scan has asked, all of them. */
export interface LookedHost {
  readonly ip: string;
  readonly ip_key: string;
  readonly mac: string;
  /** When the probe had asked them, by our clock. */
  readonly at: string;
  readonly receivedAt: string;
}

/** A scan that has reported which ports it asks. */
export interface LookingScan {
  readonly id: string;
  readonly tenant_id: string;
  readonly site_id: string;
  readonly probe_id: string;
  readonly scope_id: string | null;
  readonly started_at: string | null;
}

/** The row of a list of ports that scans of a site ask: the same list has the same id. */
export function scopeRow(
  { tenant_id, site_id }: Pick<LookingScan, "tenant_id" | "site_id">, { tcp, udp }: { readonly tcp: string; readonly udp: string }, usedAt: string,
): Schema["port_scopes"] {
  const id = createHash("sha256").update([site_id, tcp, udp].join("\n")).digest("hex");
  return { id, tenant_id, site_id, tcp, udp, used_at: usedAt };
}

/**
 * Notes that a scan has looked at devices' ports, and closes those that it asked and did not find open. That is so only of devices of
 * which the scan can be believed: see `isSure`, and only where it has asked all IPv4 addresses that the device has now: a service may
 * listen at one of them. Of a device without IPv4 one address is enough.
 *
 * To be called when all that came of the scan is written, with the site held.
 * @param raise Takes a `port_found` for each port that is closed.
 */
export async function takeLooks(
  trx: Transaction<Schema>, scan: LookingScan, hosts: readonly LookedHost[], raise: (event: NewEvent) => void,
): Promise<void> {
  const { scope_id: scopeId, started_at: startedAt } = scan;
  const scope = scopeId === null ? undefined : await readScope(trx, scopeId);
  if (!scope || startedAt === null) return;
  const asked = { tcp: readPortRanges(scope.tcp), udp: readPortRanges(scope.udp) };
  const looked = await sureDevices(trx, scan, { hosts, asked: { tcp: countPorts(asked.tcp), udp: countPorts(asked.udp) } });
  const { whole, ports } = await openBefore(trx, [...looked.keys()], { before: startedAt, limit: MAX_PORTS });
  const closed = ports.flatMap((port) => {
    const device = looked.get(port.device_id);
    if (!device || !device.closes(port) || !holdsPort(asked[port.protocol === "udp" ? "udp" : "tcp"], port.port)) return [];
    return [{ ...port, device, last_scanned: device.host.at }];
  });
  await closePorts(trx, closed);
  const looks = [...looked].filter(([id]) => whole.has(id));
  await saveLooks(trx, looks.map(([device_id, { host }]) => ({
    device_id, tenant_id: scan.tenant_id, scope_id: scope.id, looked_at: host.at, scan_id: scan.id,
  })));
  for (const { device: { host }, device_id: deviceId, port, protocol } of closed) {
    raise({
      type: "port_found", siteId: scan.site_id, probeId: scan.probe_id, deviceId, queueId: null, probeSeq: null, occurredAt: host.at,
      receivedAt: host.receivedAt,
      data: { ip: host.ip, mac: host.mac, port, protocol, state: "closed", service: "", version: "", banner: "", scan_id: scan.id },
    });
  }
}

/** A device that a scan has looked at. */
interface Looked {
  /** The one of its hosts that was asked last. */
  readonly host: LookedHost;
  /** Whether a port that was asked is closed. */
  readonly closes: (port: PortKey) => boolean;
}

const StoredCounts = z.object({ tcp: PortCounts, udp: PortCounts });
type Counts = z.infer<typeof StoredCounts>;

/** How many ports a scan asks. */
interface Asked {
  readonly tcp: number;
  readonly udp: number;
}

/** The devices of which the scan can be believed. */
async function sureDevices(trx: Transaction<Schema>, scan: LookingScan, { hosts, asked }: {
  readonly hosts: readonly LookedHost[]; readonly asked: Asked;
}): Promise<ReadonlyMap<string, Looked>> {
  const devices = await devicesOf(trx, scan.site_id, hosts);
  const addresses = (await addressesOf(trx, [...new Set(devices.values())])).filter(({ ip }) => !ip.includes(":"));
  const keysOf = grouped(addresses.map(({ device_id: id, ip_key: key }) => [id, key]));
  const keys = [...new Set([...devices.keys(), ...addresses.map(({ ip_key }) => ip_key)])];
  const open = grouped((await foundOpen(trx, scan.id, keys)).map((port) => [port.ip_key, port]));
  const counted = new Map((await countedHosts(trx, scan.id, keys)).map((row) => [row.ip_key, StoredCounts.parse(JSON.parse(row.port_counts))]));
  const isSureAt = (key: string) => isSure(counted.get(key), { open: open.get(key) ?? [], asked });
  const looked = new Map<string, Looked>();
  for (const host of hosts) {
    const id = devices.get(host.ip_key);
    if (id === undefined) continue;
    const own = keysOf.get(id) ?? [host.ip_key];
    if (!own.every(isSureAt) || (looked.get(id)?.host.at ?? "") > host.at) continue;
    const found = new Set(own.flatMap((key) => open.get(key) ?? []).map(({ port, protocol }) => `${port} ${protocol}`));
    // Silence of UDP is `open|filtered`: a server that does not know the question says nothing. Only a host that answered or refused
    // each question has shown which ones are closed.
    const isUdpSure = own.every((key) => {
      const udp = counted.get(key)?.udp;
      return udp !== undefined && udp.open + udp.closed === asked.udp;
    });
    looked.set(id, { host, closes: ({ port, protocol }) => !found.has(`${port} ${protocol}`) && (protocol === "tcp" || isUdpSure) });
  }
  return looked;
}

function countPorts(ranges: PortRangeList): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

function grouped<T>(pairs: readonly (readonly [key: string, value: T])[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/**
 * Whether what a scan says of an address can be believed: the host was there, since some TCP port answered, as many were asked as the scan
 * said, and every open port that the probe counted has come. Of a tarpit, and of what answers on every port, the probe counts ports that it
 * does not report; others may have been lost with a full queue.
 */
function isSure(
  counts: Counts | undefined, { open, asked }: { readonly open: readonly { readonly protocol: string }[]; readonly asked: Asked },
): boolean {
  if (!counts || counts.tcp.open + counts.tcp.closed === 0 || counts.tcp.open + counts.tcp.closed + counts.tcp.filtered !== asked.tcp) return false;
  return (["tcp", "udp"] as const).every((protocol) => open.filter((port) => port.protocol === protocol).length >= counts[protocol].open);
}
