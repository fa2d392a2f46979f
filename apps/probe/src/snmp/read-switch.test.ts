import { EVENTS } from "@lanthorn/contract/uplink";
import { systemClock } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exchangeDatagram } from "../identify/datagrams.ts";
import { readSwitch, type SwitchTables } from "./read-switch.ts";
import { createSnmpSession, type SnmpCredential } from "./session/session.ts";
import { createSwitchMemory, reportText } from "./switch-report.ts";
import { COMMUNITY, type Snmpd, startSnmpd } from "./testing/snmpd.ts";

const LLDP = "1.0.8802.1.1.2.1";
const CDP = "1.3.6.1.4.1.9.9.23.1.2.1.1";
const FDB = "1.3.6.1.2.1.17";
/** Bridge port 5 is ifIndex 1, which is loopback on every machine. */
const ROWS: readonly (readonly [string, string, string])[] = [
  [`${LLDP}.3.2.0`, "octet_str", "0x001c73009910"],
  [`${LLDP}.4.1.1.4.0.1.7`, "integer", "4"], [`${LLDP}.4.1.1.5.0.1.7`, "octet_str", "0x001c73009810"],
  [`${LLDP}.4.1.1.6.0.1.7`, "integer", "5"],
  [`${LLDP}.4.1.1.7.0.1.7`, "octet_str", '"Ethernet3"'], [`${LLDP}.4.1.1.8.0.1.7`, "octet_str", '"to closet"'],
  [`${LLDP}.4.1.1.9.0.1.7`, "octet_str", '"core"'],
  [`${LLDP}.4.1.1.12.0.1.7`, "octet_str", "0x2800"], [`${LLDP}.4.2.1.3.0.1.7.1.4.10.77.0.1`, "integer", "2"],
  [`${CDP}.3.1.4`, "integer", "1"], [`${CDP}.4.1.4`, "octet_str", "0x0a4d0001"], [`${CDP}.6.1.4`, "octet_str", '"core.example.net"'],
  [`${CDP}.7.1.4`, "octet_str", '"Ethernet3"'], [`${CDP}.8.1.4`, "octet_str", '"WS-C3560"'], [`${CDP}.9.1.4`, "octet_str", "0x00000029"],
  [`${FDB}.1.1.0`, "octet_str", "0x001c73009911"], [`${FDB}.1.4.1.2.5`, "integer", "1"],
  [`${FDB}.7.1.2.2.1.2.20.0.17.50.119.0.9`, "integer", "5"], [`${FDB}.7.1.2.2.1.3.20.0.17.50.119.0.9`, "integer", "3"],
  [`${FDB}.4.3.1.2.0.17.50.119.0.10`, "integer", "5"], [`${FDB}.4.3.1.3.0.17.50.119.0.10`, "integer", "4"],
  [`${FDB}.4.3.1.2.0.17.50.119.0.11`, "integer", "5"], [`${FDB}.4.3.1.3.0.17.50.119.0.11`, "integer", "3"],
  ["1.3.6.1.2.1.4.22.1.2.1.10.77.0.9", "octet_str", "0x001132770009"],
];

let snmpd: Snmpd;
beforeAll(async () => {
  snmpd = await startSnmpd(ROWS);
});
afterAll(() => snmpd?.close());

const credential = (): SnmpCredential => ({
  id: "0199fffe-0000-7000-8000-000000000001", name: "switches", networks: [], type: "snmp", settings: { version: "2c", port: snmpd.port },
  secret: { community: COMMUNITY },
});

describe("a switch", () => {
  test("tells of its ports, its neighbors, who hangs on them and whom it has spoken to", async () => {
    const session = createSnmpSession({
      ip: "127.0.0.1", credential: credential(), ask: exchangeDatagram, pace: async () => undefined, mayAsk: () => true,
      clock: systemClock, random: Math.random,
      signal: new AbortController().signal,
    });
    const tables = await readSwitch(session);
    expect(tables?.system).toMatchObject({ system_name: "sw-closet", system_description: "Test switch" });
    expect(tables?.macs.slice(0, 2)).toEqual(["00:1c:73:00:99:11", "00:1c:73:00:99:10"]);
    expect(tables?.interfaces.get(1)).toMatchObject({ name: "lo", up: true });
    const [lldp, cdp] = tables?.neighbors ?? [];
    expect(lldp).toMatchObject({
      protocol: "lldp", port: "lo", chassis_id: "00:1c:73:00:98:10", chassis_id_type: "mac", port_id: "Ethernet3",
      port_description: "to closet", system_name: "core",
      capabilities: ["bridge", "router"], management_addresses: ["10.77.0.1"],
    });
    expect(cdp).toMatchObject({
      protocol: "cdp", port: "lo", chassis_id: "core.example.net", platform: "WS-C3560",
      capabilities: ["router", "bridge"], management_addresses: ["10.77.0.1"],
    });
    expect(tables?.forwarding).toEqual([
      { mac: "00:11:32:77:00:09", port: "lo", vlan: 20 }, { mac: "00:11:32:77:00:0b", port: "lo", vlan: null },
    ]);
    expect(tables?.addresses).toContainEqual({ ip: "10.77.0.9", mac: "00:11:32:77:00:09" });
    const report = tables && createSwitchMemory().report("127.0.0.1", tables, 0);
    expect(EVENTS.switch_report.data.safeParse(report).success).toBe(true);
    expect(report?.ports.find(({ name }) => name === "lo")).toMatchObject({ role: "uplink", mac_count: 2 });
  });
});

const tablesOf = (forwarding: SwitchTables["forwarding"], neighbors: SwitchTables["neighbors"] = []): SwitchTables => ({
  system: { system_name: "sw", system_description: "", object_id: "", engine_id: "" },
  macs: ["00:1c:73:00:99:10"], neighbors, forwarding, addresses: [],
  interfaces: new Map(["g1", "g2", "g3", "g4"].map((name, index) => [index + 1, { name, alias: "", mac: "", up: true, speedMbps: 1000 }])),
});
const heard = (port: string, ...lasts: readonly number[]) =>
  lasts.map((last) => ({ mac: `00:11:32:77:00:${String(last).padStart(2, "0")}`, port, vlan: null }));

describe("a port", () => {
  test("is access where a few MACs are, an uplink where many are or a switch announces itself, and a phone is none", () => {
    const said = {
      protocol: "lldp" as const, chassis_id: "a", port_id: "b", port_description: "", system_name: "",
      system_description: "", management_addresses: [], vlan_ids: [],
    };
    const many = Array.from({ length: 9 }, (_, index) => 10 + index);
    const tables = tablesOf([...heard("g1", 1, 2), ...heard("g2", ...many), ...heard("g3", 3)], [
      { ...said, port: "g3", capabilities: ["bridge", "telephone"] }, { ...said, port: "g4", capabilities: ["bridge"] },
    ]);
    const { ports, hosts } = createSwitchMemory().report("10.0.0.2", tables, 0);
    expect(ports.map(({ name, role, mac_count: count }) => [name, role, count]))
      .toEqual([["g1", "access", 2], ["g2", "uplink", 9], ["g3", "access", 1], ["g4", "uplink", 0]]);
    expect(hosts.map(({ mac, port }) => `${mac.slice(-2)} ${port}`)).toEqual(["01 g1", "02 g1", "03 g3"]);
  });

  test("keeps who is silent for an hour, and not who is heard elsewhere", () => {
    const memory = createSwitchMemory();
    const first = memory.report("10.0.0.2", tablesOf(heard("g1", 1, 2)), 0);
    const silent = memory.report("10.0.0.2", tablesOf(heard("g1", 2)), 600_000);
    expect(reportText(silent)).toBe(reportText(first));
    expect(memory.report("10.0.0.2", tablesOf(heard("g2", 1)), 700_000).hosts.map(({ port }) => port)).toEqual(["g2", "g1"]);
    expect(memory.report("10.0.0.2", tablesOf([]), 700_000 + 3_600_000).hosts).toEqual([]);
  });
});
