import { describe, expect, test } from "vitest";
import { decideJoin, forgetOldMacs } from "./join.ts";
import type { DeviceRecord } from "./record.ts";

const own = { tenant_id: "tenant", site_id: "site" };
const at = (day: number) => new Date(Date.UTC(2026, 0, day)).toISOString();
const mac = (index: number, first = "00") => `${first}:1b:21:00:00:${index.toString(16).padStart(2, "0")}`;

function make(id: string,
  options: {
    readonly macs?: readonly string[]; readonly addresses?: number; readonly keys?: readonly string[];
    readonly device?: Partial<DeviceRecord["device"]>;
  } = {}): DeviceRecord {
  const { macs = [], addresses = 0, keys = [] } = options;
  return {
    device: {
      id, ...own, ip: "", ip_key: "", mac: macs[0] ?? "", hostname: "", vendor: "", os_guess: "", device_type: "unknown", is_online: 1,
      presence_state: "online",
      first_seen: at(1), last_seen: at(1), open_ports: "[]", tags: "[]", locked_fields: "[]", verdicts: "{}",
      mac_count: Math.max(1, macs.length), ...options.device,
    },
    interfaces: macs.map((one, index) => ({ ...own, mac: one, vendor: "", first_seen: at(1 + index), presence_state: "online" })),
    addresses: Array.from({ length: addresses }, (_, index) =>
      ({ ...own, mac: macs[index % macs.length] ?? "", ip: `10.0.${id}.${index}`, ip_key: "", first_seen: at(1), last_seen: at(1 + index),
        current: 1 })),
    ports: [], evidence: [], device_keys: keys.map((key) => ({ ...own, key, source: "x", first_seen: at(1) })), port_looks: [], device_software: [],
  };
}
const refusal = (a: DeviceRecord, b: DeviceRecord) => {
  const [one, two] = [decideJoin(a, b), decideJoin(b, a)];
  expect(one.join).toBe(two.join);
  return one.join ? null : one.because;
};

describe("two devices with a key in common", () => {
  test("are one; kept is the one that people have worked on, then the older one", () => {
    const kept = (a: DeviceRecord, b: DeviceRecord) => {
      const decisions = [decideJoin(a, b), decideJoin(b, a)].map((decision) => (decision.join ? decision.kept.device.id : null));
      expect(decisions[0]).toBe(decisions[1]);
      return decisions[0];
    };
    expect(kept(make("1"), make("2"))).toBe("1");
    expect(kept(make("1", { device: { first_seen: at(5) } }), make("2"))).toBe("2");
    expect(kept(make("1", { device: { first_seen: at(5), tags: '["core"]' } }), make("2"))).toBe("1");
    expect(kept(make("1"), make("2", { device: { locked_fields: '["hostname"]', hostname: "nas" } }))).toBe("2");
  });

  test("are two when another key says so, as those of copied images and of a dock do", () => {
    expect(refusal(make("1", { keys: ["tls_certificate a", "snmp_engine_id 1"] }),
      make("2", { keys: ["tls_certificate a", "snmp_engine_id 2"] }))).toContain("snmp_engine_id");
    expect(refusal(make("1", { keys: ["dhcp_client_id a", "ssh_host_key ssh-ed25519 x"] }),
      make("2", { keys: ["dhcp_client_id a", "ssh_host_key ssh-ed25519 y"] }))).toContain("ssh_host_key");
    // Keys of two algorithms, or more than one with one in common, contradict nothing.
    expect(refusal(make("1", { keys: ["dhcp_client_id a", "ssh_host_key ssh-ed25519 x"] }),
      make("2", { keys: ["dhcp_client_id a", "ssh_host_key ssh-rsa y"] }))).toBeNull();
    expect(refusal(make("1", { keys: ["dhcp_duid a", "dhcp_duid b"] }), make("2", { keys: ["dhcp_duid b"] }))).toBeNull();
  });

  test("are two when together they are too large for one machine", () => {
    const macs = (from: number, count: number, first?: string) => Array.from({ length: count }, (_, index) => mac(from + index, first));
    expect(refusal(make("1", { macs: macs(0, 8) }), make("2", { macs: macs(8, 8) }))).toBeNull();
    expect(refusal(make("1", { macs: macs(0, 8) }), make("2", { macs: macs(8, 9) }))).toContain("interfaces");
    expect(refusal(make("1", { macs: macs(0, 8) }), make("2", { macs: macs(8, 9, "da") }))).toBeNull();
    expect(refusal(make("1", { macs: macs(0, 1), addresses: 100 }), make("2", { macs: macs(1, 1), addresses: 29 }))).toContain("addresses");
  });

  test("are two when they are at two sites, or people gave them two names", () => {
    expect(refusal(make("1"), make("2", { device: { site_id: "other" } }))).toContain("sites");
    const named = (id: string, hostname: string) => make(id, { device: { hostname, locked_fields: '["hostname"]' } });
    expect(refusal(named("1", "a"), named("2", "b"))).toContain("users");
    expect(refusal(named("1", "a"), named("2", "a"))).toBeNull();
  });
});

test("of random MACs the last eight are kept with their addresses, and every other MAC", () => {
  const macs = [mac(1), ...Array.from({ length: 20 }, (_, index) => mac(index, "da"))];
  const kept = forgetOldMacs(make("1", { macs, addresses: 21 }));
  expect(kept.interfaces.map((row) => row.mac)).toEqual([mac(1), ...Array.from({ length: 8 }, (_, index) => mac(12 + index, "da"))]);
  expect(new Set(kept.addresses.map((row) => row.mac))).toEqual(new Set(kept.interfaces.map((row) => row.mac)));
  const few = make("1", { macs: macs.slice(0, 9), addresses: 9 });
  expect(forgetOldMacs(few)).toBe(few);
});
