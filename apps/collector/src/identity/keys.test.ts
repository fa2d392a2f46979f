import { describe, expect, test } from "vitest";
import { keysOf, keyText } from "./keys.ts";
import { macKind } from "./macs.ts";

const at = "2026-01-01T00:00:00.000Z";
const read = (field: string, value: string, options: { readonly mac?: string; readonly confidence?: number } = {}) =>
  keysOf({ mac: options.mac ?? "00:1b:21:00:00:01",
    evidence: [{ field, value, source: "test", confidence: options.confidence ?? 0.9, seen_at: at }] }).map(keyText);

describe("what a MAC says", () => {
  test.each([
    ["00:1b:21:aa:bb:cc", "own"], ["f0:9f:c2:00:00:03", "own"], ["52:54:00:aa:bb:cc", "own"], ["02:1b:21:aa:bb:cc", "random"],
    ["da:a1:19:00:00:01", "random"],
    ["02:42:ac:11:00:02", "random"], ["00:ff:12:34:56:78", "random"], ["00:00:5e:00:01:0a", "virtual"], ["00:00:5e:00:02:0a", "virtual"],
    ["00:00:0c:07:ac:01", "virtual"],
    ["00:00:0c:9f:f1:23", "virtual"], ["00:00:0c:9e:f1:23", "own"], ["00:07:b4:01:02:03", "virtual"], ["00:07:b4:ff:02:03", "own"],
    ["00:05:73:a0:01:23", "virtual"],
    ["00:05:9a:3c:7a:00", "shared"], ["02:50:41:00:00:01", "shared"], ["52:54:00:12:34:56", "shared"], ["0a:00:27:00:00:05", "shared"],
    ["00:50:56:c0:00:08", "shared"],
    ["00:50:56:aa:00:08", "own"], ["00:00:00:00:00:00", "shared"],
  ])("%s is %s", (mac, kind) => {
    expect(macKind(mac)).toBe(kind);
  });
});

describe("the keys of a host", () => {
  test.each([
    ["ssh_host_key", " ssh-ed25519 SHA256:AbC012345 ", "ssh_host_key ssh-ed25519 SHA256:AbC012345"],
    ["tls_certificate", "AB".repeat(16) + "cd".repeat(16), `tls_certificate ${"ab".repeat(16)}${"cd".repeat(16)}`],
    ["snmp_engine_id", "0x80:00:1f:88:80:aa:bb", "snmp_engine_id 80001f8880aabb"],
    ["dhcp_duid", "00-01-00-01-2A", null],
    ["dhcp_duid", "00:01:00:01:2a:bb:cc:dd", "dhcp_duid 000100012abbccdd"],
    ["dhcp_client_id", "01:00:1b:21:00:00:99", "mac 00:1b:21:00:00:99"],
    ["dhcp_client_id", "01:02:1b:21:00:00:99", null],
    // The same machine in DHCPv4 and DHCPv6.
    ["dhcp_client_id", "ff:aa:bb:cc:dd:00:01:00:01:2a:bb:cc:dd", "dhcp_duid 000100012abbccdd"],
    ["dhcp_client_id", "00:6b:69:74:63:68:65:6e:2d:31", "dhcp_client_id 006b69746368656e2d31"],
    ["dhcp_client_id", "00:61", null],
    ["lldp_chassis_id", "00:1B:21:00:00:99", "lldp_chassis_id 00:1b:21:00:00:99"],
    ["lldp_chassis_id", "02:1B:21:00:00:99", null],
    ["lldp_chassis_id", "switch", null],
    ["lldp_chassis_id", "rack-4-switch-11", "lldp_chassis_id rack-4-switch-11"],
    ["hostname", "nas", null],
  ])("from %s = %s: %s", (field, value, key) => {
    expect(read(field, value)).toEqual(key === null ? [] : [key]);
  });

  test.each([
    ["snmp_engine_id", "8000000001020304"], ["snmp_engine_id", "00000000000000"], ["snmp_engine_id", "ffffffffffff"],
    ["dhcp_duid", "00".repeat(12)],
    ["tls_certificate", "0".repeat(64)], ["tls_certificate", "zz"], ["snmp_engine_id", ""], ["ssh_host_key", "short"],
    ["dhcp_client_id", "not hexadecimal"],
  ])("are not what anybody may have: %s = %s", (field, value) => {
    expect(read(field, value)).toEqual([]);
  });

  test("are not guesses, not its own MAC, and none at all where the MAC is of no one machine", () => {
    expect(read("dhcp_duid", "000100012abbccdd", { confidence: 0.3 })).toEqual([]);
    expect(read("dhcp_client_id", "01001b21000001")).toEqual([]);
    for (const mac of ["00:00:5e:00:01:0a", "00:05:9a:3c:7a:00"]) expect(read("dhcp_duid", "000100012abbccdd", { mac })).toEqual([]);
    expect(read("dhcp_duid", "000100012abbccdd", { mac: "" })).toEqual(["dhcp_duid 000100012abbccdd"]);
    expect(read("dhcp_duid", "000100012abbccdd", { mac: "da:a1:19:00:00:01" })).toEqual(["dhcp_duid 000100012abbccdd"]);
  });

  test("are few and each once, however much a host says", () => {
    const evidence = Array.from({ length: 64 }, (_, index) =>
      ({ field: "dhcp_duid", value: `0001000${index % 40}aabbccddee`.padEnd(20, "0"), source: "x", confidence: 1, seen_at: at }));
    const keys = keysOf({ mac: "", evidence }).map(keyText);
    expect(keys.length).toBeLessThanOrEqual(16);
    expect(new Set(keys).size).toBe(keys.length);
    expect(read("constructor", "x".repeat(1024))).toEqual([]);
    expect(read("__proto__", "x".repeat(1024))).toEqual([]);
  });
});
