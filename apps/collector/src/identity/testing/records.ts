import { type Arbitrary, constantFrom, integer, record, subarray, tuple, uniqueArray } from "fast-check";
import { addressKey } from "../../db/keys/address-key.ts";
import { NO_SOFTWARE } from "../../software/columns.ts";
import type { DeviceRecord } from "../record.ts";

/** Devices of one site as they may lie in the database, for property tests. */

const SITE = { tenant_id: "tenant", site_id: "site" };

const instant = integer({ min: 0, max: 40 }).map((minute) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString());
const presence = constantFrom("online", "offline", "unknown");
const word = constantFrom("", "alpha", "beta", "gamma");
const macOf = (index: number) => `00:1b:21:00:00:${index.toString(16).padStart(2, "0")}`;
const ipOf = (index: number) => `10.0.0.${index}`;

const address = (macs: readonly string[]) => record({
  mac: constantFrom(...macs, ""), ip: integer({ min: 1, max: 6 })
    .map(ipOf), first_seen: instant, last_seen: instant, current: constantFrom(0, 1),
}).map((row) => ({ ...SITE, ...row, ip_key: addressKey(row.ip) }));

const port = record({
  port: constantFrom(22, 80, 443, 8080), protocol: constantFrom("tcp", "udp"), state: constantFrom("open", "closed", "filtered"),
  service: word, version: word,
  banner: word, last_scanned: instant, product: word,
}).map((row) => ({ tenant_id: SITE.tenant_id, ...NO_SOFTWARE, ...row }));

const evidence = record({
  field: constantFrom("hostname", "vendor", "ip", "os"), value: word, source: constantFrom("dhcp", "mdns"),
  confidence: constantFrom(0.2, 0.5, 0.9), seen_at: instant,
}).map((row) => ({ tenant_id: SITE.tenant_id, ...row }));

const key = record({
  key: constantFrom("dhcp_duid 00", "ssh_host_key ssh-ed25519 a", "ssh_host_key ssh-ed25519 b"), source: constantFrom("dhcp", "ssh"),
  first_seen: instant,
}).map((row) => ({ ...SITE, ...row }));

const look = record({ scope_id: constantFrom("quick", "standard"), looked_at: instant, scan_id: constantFrom("one", "two") })
  .map((row) => ({ tenant_id: SITE.tenant_id, ...row }));

const software = record({ source: constantFrom("ssh:22", "snmp:161"), product: constantFrom("Debian", "Junos"), product_version: word, first_seen: instant, last_seen: instant })
  .map((row) => ({ tenant_id: SITE.tenant_id, ...NO_SOFTWARE, ...row }));

const device = (id: string, macs: readonly string[]) => record({
  ip: integer({ min: 1, max: 6 }).map(ipOf), mac: constantFrom(...macs, ""), hostname: word, vendor: word, os_guess: word,
  device_type: constantFrom("unknown", "server", "printer"), is_online: constantFrom(0, 1), presence_state: presence, first_seen: instant,
  last_seen: instant,
  open_ports: constantFrom("[]", "[22]", "[22,443]"), tags: subarray(["core", "lab", "guest"]).map((tags) => JSON.stringify(tags)),
  locked_fields: subarray(["device_type", "hostname", "ip", "mac", "os_guess", "tags", "vendor"]).map((fields) => JSON.stringify(fields)),
  mac_count: constantFrom(1, Math.max(1, macs.length)),
  verdicts: constantFrom("{}", '{"os":{"value":"alpha","confidence":0.9,"sources":["ssh"]}}'),
}).map((row) => ({ id, ...SITE, ...row, ip_key: addressKey(row.ip) }));

/** @param macs From which MACs its interfaces are: two devices of a site have none in common. */
export function anyDevice(id: string, macs: readonly number[]): Arbitrary<DeviceRecord> {
  return subarray(macs.map(macOf)).chain((own) => record({
    device: device(id, own),
    interfaces: tuple(...own.map((mac) => record({ vendor: word, first_seen: instant, presence_state: presence })
      .map((row) => ({ ...SITE, mac, ...row })))),
    addresses: uniqueArray(address(own), { maxLength: 6, selector: ({ mac, ip }) => `${mac} ${ip}` }),
    ports: uniqueArray(port, { maxLength: 6, selector: (row) => `${row.port} ${row.protocol}` }),
    evidence: uniqueArray(evidence, { maxLength: 6, selector: ({ field, source, value }) => `${field} ${source} ${value}` }),
    device_keys: uniqueArray(key, { maxLength: 3, selector: (row) => row.key }),
    port_looks: uniqueArray(look, { maxLength: 2, selector: (row) => row.scope_id }),
    device_software: uniqueArray(software, { maxLength: 4, selector: (row) => `${row.source} ${row.product}` }),
  }));
}
