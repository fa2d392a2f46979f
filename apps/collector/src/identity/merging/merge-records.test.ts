import { assert, boolean, property, record, sample } from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeRecords } from "./merge-records.ts";
import { type DeviceRecord, PART_TABLES, partKey } from "../record.ts";
import { splitRecord } from "./split-record.ts";
import { NO_SOFTWARE } from "../../software/columns.ts";
import { anyDevice } from "../testing/records.ts";

const anyPair = record({ kept: anyDevice("kept", [1, 2, 3]), merged: anyDevice("merged", [4, 5, 6]) });

/** Rows have no order. */
function sorted(record: DeviceRecord): DeviceRecord {
  const parts = PART_TABLES.map((table) =>
    [table, record[table].toSorted((a, b) => partKey(table, a as never).localeCompare(partKey(table, b as never)))]);
  return { ...record, ...(Object.fromEntries(parts) as Partial<DeviceRecord>) };
}
const sampleOf = (id: string, macs: readonly number[], seed: number): DeviceRecord =>
  sample(anyDevice(id, macs), { seed, numRuns: 1 })[0] as DeviceRecord;

describe("a merge", () => {
  test("that is undone leaves both devices as they were, to the last column", () => {
    assert(property(anyPair, ({ kept, merged }) => {
      const after = mergeRecords(kept, merged);
      const undone = splitRecord(after, { kept, merged, after });
      expect(sorted(undone.kept)).toEqual(sorted(kept));
      expect(sorted(undone.merged)).toEqual(sorted(merged));
    }), { numRuns: 2000 });
  });

  test("loses no row of either, and changes neither", () => {
    assert(property(anyPair, ({ kept, merged }) => {
      const before = JSON.stringify([kept, merged]);
      const after = mergeRecords(kept, merged);
      for (const table of PART_TABLES) {
        const keys = new Set(after[table].map((row) => partKey(table, row as never)));
        for (const row of [...kept[table], ...merged[table]]) expect(keys.has(partKey(table, row as never))).toBe(true);
      }
      expect(after.device.first_seen <= kept.device.first_seen && after.device.first_seen <= merged.device.first_seen).toBe(true);
      expect(after.device.last_seen >= kept.device.last_seen && after.device.last_seen >= merged.device.last_seen).toBe(true);
      expect(JSON.stringify([kept, merged])).toBe(before);
    }));
  });

  test("that another one followed can be undone in any order", () => {
    const another = anyDevice("another", [7, 8]);
    assert(property(anyPair, another, boolean(), ({ kept, merged }, third, isFirstFirst) => {
      const first = mergeRecords(kept, merged);
      const second = mergeRecords(first, third);
      const [one, two] = [{ kept, merged, after: first }, { kept: first, merged: third, after: second }];
      const undone = splitRecord(second, isFirstFirst ? one : two);
      const both = splitRecord(undone.kept, isFirstFirst ? two : one);
      const found = new Map([undone.merged, both.merged, both.kept].map((record) => [record.device.id, record]));
      for (const record of [kept, merged, third]) {
        const back = found.get(record.device.id);
        for (const table of ["interfaces", "addresses"] as const) {
          const macs = new Set(record.interfaces.map(({ mac }) => mac));
          const own = (rows: readonly { readonly mac: string }[] | undefined) => rows?.filter(({ mac }) => macs.has(mac))
            .map(({ mac }) => mac).toSorted();
          expect(own(back?.[table])).toEqual(own(record[table]));
        }
      }
    }));
  });

  test("keeps a person's word before discovery's, and the kept one's before the other's", () => {
    const base = sampleOf("kept", [1], 1);
    const make = (id: string, values: Partial<DeviceRecord["device"]>): DeviceRecord =>
      ({ ...base, interfaces: [], addresses: [], device: { ...base.device, id, locked_fields: "[]", tags: "[]", ...values } });
    const merged = (kept: Partial<DeviceRecord["device"]>, other: Partial<DeviceRecord["device"]>) =>
      mergeRecords(make("kept", kept), make("merged", other)).device;
    expect(merged({ hostname: "a" }, { hostname: "b" }).hostname).toBe("a");
    expect(merged({ hostname: "" }, { hostname: "b" }).hostname).toBe("b");
    expect(merged({ hostname: "a" }, { hostname: "b", locked_fields: '["hostname"]' }))
      .toMatchObject({ hostname: "b", locked_fields: '["hostname"]' });
    expect(merged({ hostname: "a", locked_fields: '["hostname"]' }, { hostname: "b", locked_fields: '["hostname"]' }).hostname).toBe("a");
    expect(merged({ device_type: "unknown" }, { device_type: "printer" }).device_type).toBe("printer");
    expect(merged({ tags: '["a","b"]' }, { tags: '["b","c"]' }).tags).toBe('["a","b","c"]');
    expect(merged({ presence_state: "offline", ip: "10.0.0.1" }, { presence_state: "online", ip: "10.0.0.2" }))
      .toMatchObject({ presence_state: "online", ip: "10.0.0.2" });
    expect(merged({ presence_state: "offline", ip: "10.0.0.1", locked_fields: '["ip"]' }, { presence_state: "online", ip: "10.0.0.2" }).ip)
      .toBe("10.0.0.1");
    expect(merged({ presence_state: "offline" }, { presence_state: "unknown" }).presence_state).toBe("unknown");
  });
});

describe("what was learned between a merge and its undoing", () => {
  const own = { tenant_id: "tenant", site_id: "site" };
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 1, minute)).toISOString();
  const device = (id: string, mac: string, ip: string): DeviceRecord => ({
    device: {
      id, ...own, ip, ip_key: ip, mac, hostname: id, vendor: "", os_guess: "", device_type: "unknown", is_online: 1,
      presence_state: "online",
      first_seen: at(0), last_seen: at(0), open_ports: "[22]", tags: "[]", locked_fields: "[]", mac_count: 1, verdicts: "{}",
    },
    interfaces: [{ ...own, mac, vendor: "", first_seen: at(0), presence_state: "unknown" }],
    addresses: [{ ...own, mac, ip, ip_key: ip, first_seen: at(0), last_seen: at(0), current: 1 }],
    ports: [{ ...NO_SOFTWARE, tenant_id: "tenant", port: 22, protocol: "tcp", state: "open", service: "", version: "", banner: id, last_scanned: at(0) }],
    evidence: [], device_keys: [], port_looks: [], device_software: [],
  });
  const [kept, merged] = [device("kept", "00:1b:21:00:00:01", "10.0.0.1"), device("merged", "00:1b:21:00:00:02", "10.0.0.2")];
  const after = mergeRecords(kept, merged);
  const undo = (now: DeviceRecord) => splitRecord(now, { kept, merged, after });

  test("of an interface goes with the interface", () => {
    const address = { ...own, mac: "00:1b:21:00:00:02", ip: "10.0.0.9", ip_key: "9", first_seen: at(5), last_seen: at(5), current: 1 };
    const undone = undo({
      ...after, addresses: [...after.addresses, address],
      interfaces: after.interfaces.map((row) => (row.mac.endsWith("02") ? { ...row, presence_state: "offline" } : row)),
      device: { ...after.device, last_seen: at(7) },
    });
    expect(undone.merged.addresses).toEqual([...merged.addresses, address]);
    expect(undone.merged.device).toMatchObject({ presence_state: "offline", is_online: 0, last_seen: at(5), ip: "10.0.0.2" });
    expect(undone.kept).toEqual({ ...kept, device: { ...kept.device, last_seen: at(7) } });
  });

  test("of the device as a whole stays with the kept one, and what was there goes back to who had it", () => {
    const scanned = { ...after.ports[0], state: "closed", last_scanned: at(9) } as DeviceRecord["ports"][number];
    const found = { ...scanned, port: 443, state: "open" };
    const undone = undo({ ...after, ports: [scanned, found], device: { ...after.device, hostname: "renamed", open_ports: "[443]" } });
    expect(undone.kept).toMatchObject({ ports: [scanned, found], device: { hostname: "renamed", open_ports: "[443]" } });
    expect(undone.merged).toEqual(merged);
  });

  test("does not come back when it was removed", () => {
    const undone = undo({ ...after, addresses: after.addresses.filter(({ mac }) => mac.endsWith("01")) });
    expect([undone.kept.addresses, undone.merged.addresses]).toEqual([kept.addresses, []]);
  });

  test("leaves neither with an address that is the other's", () => {
    const undone = undo({ ...after, device: { ...after.device, ip: "10.0.0.2", ip_key: "10.0.0.2", mac: "00:1b:21:00:00:02" } });
    expect(undone.kept.device).toMatchObject({ ip: "10.0.0.1", mac: "00:1b:21:00:00:01" });
  });
});
