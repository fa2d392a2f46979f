import { createId } from "@lanthorn/runtime";
import type { Insertable, Kysely } from "kysely";
import { addressKey } from "../../apps/collector/src/db/keys/address-key.ts";
import { hostnameKey } from "../../apps/collector/src/db/keys/hostname-key.ts";
import { insertMany } from "../../apps/collector/src/db/query/write-many.ts";
import type { Schema } from "../../apps/collector/src/db/schema.ts";

/** In one transaction: large enough that commits cost nothing, small enough to keep in memory. */
const CHUNK = 1000;
const PORTS_EACH = 10;

const VENDORS = [
  "Intel Corporate", "Hewlett Packard", "Apple, Inc.", "Cisco Systems, Inc", "Ubiquiti Inc", "Raspberry Pi Trading Ltd",
  "Samsung Electronics Co.,Ltd",
  "Dell Inc.", "AXIS Communications AB", "Espressif Inc.", "TP-LINK TECHNOLOGIES CO.,LTD.", "ASUSTek COMPUTER INC.", "VMware, Inc.",
  "Brother industries, LTD.", "",
];
const KINDS = [
  ["workstation", "pc"], ["server", "srv"], ["router", "gw"], ["switch", "sw"], ["printer", "prn"], ["camera", "cam"], ["phone", "tel"],
  ["iot", "sensor"],
  ["access_point", "ap"], ["unknown", ""],
] as const;
const PLACES = ["berlin", "lyon", "porto", "kyiv", "oslo", "graz", "turin", "malmo"];
const TAGS = ["core", "guest", "lab", "pci", "backup", "retired"];
const SERVICES = ["ssh", "http", "https", "snmp", "ipp", "rtsp", "smb", "mysql", "mqtt", "ntp"];

interface Place {
  readonly tenantId: string;
  readonly siteIds: readonly string[];
}

/**
 * Writes devices as a large organisation has them: names with a kind, a place and a number, some tags, one interface and
 * address each, ten ports.
 * @param options.random An integer in [0, limit).
 */
export async function seedDevices(
  db: Kysely<Schema>, place: Place, options: { readonly devices: number; readonly random: (limit: number) => number },
): Promise<void> {
  for (let from = 0; from < options.devices; from += CHUNK) {
    await db.transaction().execute(async (trx) => {
      const rows = Array.from({ length: Math.min(CHUNK, options.devices - from) }, (_, index) =>
        deviceRow(place, from + index, options.random));
      await insertMany(trx, "devices", rows);
      await insertMany(trx, "interfaces",
        rows.map(({ id, tenant_id, site_id, mac, vendor, first_seen }) =>
          ({ device_id: id, tenant_id, site_id, mac, vendor, first_seen })));
      await insertMany(trx, "addresses", rows.map(({ id, tenant_id, site_id, mac, ip, ip_key, first_seen, last_seen }) => ({
        device_id: id, tenant_id, site_id, mac, ip, ip_key, first_seen, last_seen, current: 1,
      })));
      await insertMany(trx, "ports", rows.flatMap((row) => portRows(row, options.random)));
    });
  }
}

function deviceRow({ tenantId, siteIds }: Place, index: number, random: (limit: number) => number): Insertable<Schema["devices"]> {
  const pick = <T>(list: readonly T[]) => list[random(list.length)] as T;
  const [type, prefix] = pick(KINDS);
  const ip = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
  const at = (daysAgo: number) => new Date(Date.UTC(2026, 10, 20) - daysAgo * 86_400_000 - random(86_400_000)).toISOString();
  const isOnline = random(10) < 7 ? 1 : 0;
  const hostname = prefix === "" ? "" : `${prefix}-${pick(PLACES)}-${String(index).padStart(6, "0")}.example.net`;
  return {
    id: createId(), tenant_id: tenantId, site_id: pick(siteIds), ip, ip_key: addressKey(ip),
    mac: `00:1b:${hex(random(256))}:${hex(index >> 16)}:${hex((index >> 8) & 255)}:${hex(index & 255)}`,
    hostname, hostname_key: hostnameKey(hostname),
    vendor: pick(VENDORS), os_guess: random(3) === 0 ? "Linux 6" : "",
    device_type: type, is_online: isOnline, presence_state: isOnline ? "online" : "offline",
    first_seen: at(90 + random(300)), last_seen: at(isOnline ? 0 : random(80)),
    open_ports: "[22,80,443]", tags: JSON.stringify(random(4) === 0 ? [pick(TAGS)] : []), locked_fields: "[]",
  };
}

function portRows(device: Insertable<Schema["devices"]>, random: (limit: number) => number): Insertable<Schema["ports"]>[] {
  const { id, tenant_id, last_seen } = device;
  return Array.from({ length: PORTS_EACH }, (_, index) => ({
    device_id: id, tenant_id, port: 20 + index * 97, protocol: "tcp", state: random(3) === 0 ? "open" : "closed",
    service: SERVICES[index] ?? "", version: "1.0",
    banner: `${SERVICES[index] ?? ""} ready`, last_scanned: last_seen,
  }));
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
