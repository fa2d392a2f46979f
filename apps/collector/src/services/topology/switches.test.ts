import { DeviceProfile, type SwitchReport, type Topology } from "@lanthorn/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CHASSIS, createTopologyBench, type TopologyBench } from "./testing/bench.ts";

let bench: TopologyBench;
beforeEach(async () => {
  bench = await createTopologyBench();
});
afterEach(() => bench.stop());

describe("a switch that is asked by SNMP", () => {
  const SERVER = "00:11:32:77:00:09";
  const port = (name: string, role: "access" | "uplink", count: number) =>
    ({ name, alias: "", mac: "" as const, up: true, speed_mbps: 1000, role, mac_count: count });
  const report = (values: Partial<SwitchReport> = {}): SwitchReport => ({
    ip: "192.0.2.2", answers: true, system_name: "sw-store12", system_description: "EOS", object_id: "", engine_id: "",
    macs: ["00:1c:73:00:99:11", CHASSIS],
    ports: [port("Ethernet1", "access", 1), port("Ethernet48", "uplink", 40), port("Ethernet12", "access", 1)],
    neighbors: [{
      port: "Ethernet48", protocol: "lldp", chassis_id: "00:1c:73:00:98:10", chassis_id_type: "mac", port_id: "Ethernet3",
      port_description: "", system_name: "core", system_description: "", capabilities: ["bridge"], management_addresses: ["192.0.2.1"],
      vlan_ids: [],
    }],
    hosts: [{ mac: SERVER, port: "Ethernet1", vlan: 20 }, { mac: "00:11:32:77:00:0a", port: "Ethernet2", vlan: null }], addresses: [],
    ...values,
  });
  const tell = (values?: Partial<SwitchReport>, of = bench.probe) => bench.tell(of, { type: "switch_report", data: report(values) });
  const drawn = ({ nodes, edges }: Topology) => {
    const name = (id: string) => nodes.find((node) => node.id === id)?.name;
    return edges.map(
      (edge) => [edge.kind, name(edge.source), edge.source_port, name(edge.target), edge.target_port, edge.protocols.join()].join(" "),
    ).toSorted();
  };

  test("has cables to other switches and to devices, and is the machine that the probe hears", async () => {
    await bench.found("192.0.2.9", SERVER, "server");
    await bench.hear();
    await tell();
    const topology = await bench.readTopology();
    expect(drawn(topology)).toEqual([
      "access sw-store12 Ethernet1 server  bridge", "probe store-12 lan0 sw-store12 Ethernet12 lldp",
      "uplink sw-store12 Ethernet48 core Ethernet3 lldp",
    ]);
    expect([topology.nodes.length, topology.notes]).toEqual([4, []]);
    expect(topology.edges.find(({ kind }) => kind === "access")).toMatchObject({
      native_vlan: 20, matched_by: "interface-mac", confidence: 0.95, state: "up",
    });
    const profile = DeviceProfile.parse(
      (await bench.server.get(`/api/v1/devices/${await bench.deviceAt("192.0.2.9")}`, bench.tenant.token)).body,
    );
    expect(profile.neighbors).toMatchObject([
      { protocol: "bridge", system_name: "sw-store12", port_id: "Ethernet1", local_port: "", probe_id: null, matched_by: "interface-mac" },
    ]);
  });

  test("and another one that is, have one cable between them", async () => {
    await tell();
    const core = {
      port: "Ethernet3", protocol: "lldp" as const, chassis_id: CHASSIS, chassis_id_type: "mac" as const, port_id: "Ethernet48",
      port_description: "", system_name: "sw-store12", system_description: "", capabilities: ["bridge"], management_addresses: [],
      vlan_ids: [],
    };
    await tell({
      ip: "192.0.2.1", system_name: "core", macs: ["00:1c:73:00:98:10"], ports: [port("Ethernet3", "uplink", 9)], neighbors: [core],
      hosts: [],
    });
    const topology = await bench.readTopology();
    expect([topology.edges.length, topology.nodes.length]).toEqual([1, 3]);
  });

  const heard = (name: string, ...macs: readonly string[]) => macs.map((mac) => ({ mac, port: name, vlan: null }));
  /** Three in a row, none of which speaks LLDP: each hears the others, and whom they hear, at the ports between them. */
  const ROW = [
    { ip: "192.0.2.1", system_name: "one", macs: ["00:1c:73:00:01:01"] },
    { ip: "192.0.2.2", system_name: "two", macs: ["00:1c:73:00:02:02"] },
    { ip: "192.0.2.3", system_name: "three", macs: ["00:1c:73:00:03:03"] },
  ] as const;
  const [ONE, TWO, THREE] = [ROW[0].macs[0], ROW[1].macs[0], ROW[2].macs[0]];
  const PRINTER = "00:11:32:77:00:0a";
  const ports = (...names: readonly string[]) => names.map((name) => port(name, "access", 2));

  test("hears at the cable to another one who hangs on that one, and does not tell them as its own", async () => {
    await bench.found("192.0.2.9", SERVER, "server");
    await bench.found("192.0.2.10", PRINTER, "printer");
    const none = { neighbors: [] };
    await tell({
      ...ROW[0], macs: [ONE], ...none, ports: ports("a1", "a2"), hosts: [...heard("a1", SERVER), ...heard("a2", TWO, THREE, PRINTER)],
    });
    await tell({
      ...ROW[1], macs: [TWO], ...none, ports: ports("b1", "b2"), hosts: [...heard("b1", ONE, SERVER), ...heard("b2", THREE, PRINTER)],
    });
    await tell({
      ...ROW[2], macs: [THREE], ...none, ports: ports("c1", "c2"), hosts: [...heard("c1", ONE, TWO, SERVER), ...heard("c2", PRINTER)],
    });
    expect(drawn(await bench.readTopology())).toEqual([
      "access one a1 server  bridge", "access three c2 printer  bridge", "uplink one a2 two b1 bridge", "uplink two b2 three c1 bridge",
    ]);
  });

  test("has a host at the port with the fewest, where several hear it", async () => {
    await bench.found("192.0.2.9", SERVER, "server");
    await tell({ ...ROW[0], macs: [ONE], neighbors: [], ports: ports("a1"), hosts: heard("a1", SERVER, PRINTER) });
    await tell({ ...ROW[1], macs: [TWO], neighbors: [], ports: ports("b1"), hosts: heard("b1", SERVER) });
    expect(drawn(await bench.readTopology())).toEqual(["access two b1 server  bridge"]);
    await tell({ ...ROW[1], answers: false, macs: [], neighbors: [], ports: [], hosts: [] });
    await bench.clock.advance(2000);
    expect(drawn(await bench.readTopology())).toEqual(["access one a1 server  bridge"]);
  });

  test("is a device with its words as evidence; who it has spoken to gets a weak one and is not online by it", async () => {
    await bench.found("192.0.2.2", CHASSIS, "sw");
    await bench.found("192.0.2.9", SERVER, "server");
    await bench.tell(bench.probe, {
      type: "host_offline", data: { ip: "192.0.2.9", mac: SERVER, last_seen_at: bench.now(), missed_checks: 3 },
    });
    await tell({ engine_id: "80001f888001020304", addresses: [{ ip: "192.0.2.9", mac: SERVER }] });
    const profile =
      async (ip: string) =>
        DeviceProfile.parse((await bench.server.get(`/api/v1/devices/${await bench.deviceAt(ip)}`, bench.tenant.token)).body);
    expect((await profile("192.0.2.2")).evidence["system_name"]).toMatchObject([{ value: "sw-store12", source: "snmp" }]);
    const server = await profile("192.0.2.9");
    expect([server.evidence["address"], server.presence_state]).toMatchObject([
      [{ value: "192.0.2.9", source: "snmp-arp", confidence: 0.3 }], "offline",
    ]);
    const keys = await bench.server.db.selectFrom("device_keys").select("key").execute();
    expect(keys.map(({ key }) => key)).toContain("snmp_engine_id 80001f888001020304");
  });

  test("that does not answer any more is gone, and moves its hosts with its next report", async () => {
    await bench.found("192.0.2.9", SERVER, "server");
    await tell();
    await tell({ hosts: [{ mac: SERVER, port: "Ethernet7", vlan: null }], neighbors: [] });
    expect(drawn(await bench.readTopology())).toEqual(["access sw-store12 Ethernet7 server  bridge"]);
    await tell({ answers: false, system_name: "", macs: [], ports: [], neighbors: [], hosts: [] });
    expect((await bench.readTopology()).edges).toEqual([]);
    expect((await bench.readTopology("?include_gone=true")).edges).toMatchObject([{ state: "gone", source_port: "Ethernet7" }]);
  });

  test("of another tenant is nobody's", async () => {
    await tell();
    const other = await bench.server.createTenant("viewer");
    expect(await bench.readTopology("", other.token)).toMatchObject({ nodes: [], edges: [] });
  });
});
