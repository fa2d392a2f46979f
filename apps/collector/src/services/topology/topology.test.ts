import { DeviceProfile, type NeighborDiscovered, type SwitchReport, Topology } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hostState } from "../../ingest/testing/bench.ts";
import { createScansBench, type FakeProbe, type ScansBench } from "../scans/testing/bench.ts";

const CHASSIS = "00:1c:73:00:99:10";
const PORT_MAC = "00:1c:73:00:99:1c";

let bench: ScansBench;
let probe: FakeProbe;
beforeEach(async () => {
  bench = await createScansBench();
  probe = await bench.addProbe();
});
afterEach(() => bench.stop());

function neighbor(values: Partial<NeighborDiscovered> = {}): NeighborDiscovered {
  return {
    protocol: "lldp", local_interface: "lan0", chassis_id: CHASSIS, chassis_id_type: "mac", port_id: "Ethernet12",
    port_description: "to probe", system_name: "sw-store12", system_description: "EOS", capabilities: ["bridge", "router"],
    management_addresses: ["192.0.2.2"], vlan_ids: [20], ttl_seconds: 120, source_mac: PORT_MAC, native_vlan: 20, changed: [], ...values,
  };
}

const hear = (values?: Partial<NeighborDiscovered>, of = probe) => bench.tell(of, { type: "neighbor_discovered", data: neighbor(values) });
const found = (ip: string, mac: string, hostname = "") =>
  bench.tell(probe, { type: "host_found", data: hostState({ ip, mac, hostname }, bench.now()) });

async function read(query = "", token = bench.tenant.token): Promise<Topology> {
  // Past what was drawn a moment ago.
  await bench.clock.advance(2000);
  const answer = await bench.server.get(`/api/v1/topology${query}`, token);
  expect(answer.status).toBe(200);
  return Topology.parse(answer.body);
}

const deviceAt =
  async (ip: string) => (await bench.server.db.selectFrom("devices").selectAll().where("ip", "=", ip).executeTakeFirst())?.id ?? "";

describe("a neighbour that is no device", () => {
  test("is a node, with the cable to it as an edge", async () => {
    await hear();
    const { nodes, edges, notes, truncated } = await read();
    expect(nodes).toMatchObject([
      { id: `probe:${probe.probeId}`, kind: "probe", name: "store-12", probe_id: probe.probeId, presence_state: "online" },
      { kind: "neighbor", name: "sw-store12", device_id: null, ip: "192.0.2.2", mac: CHASSIS, capabilities: ["bridge", "router"] },
    ]);
    expect(edges).toMatchObject([{
      source: `probe:${probe.probeId}`, source_port: "lan0", target: nodes[1]?.id, target_port: "Ethernet12", protocols: ["lldp"],
      state: "up", native_vlan: 20, vlan_ids: [20], matched_by: null, confidence: null,
    }]);
    expect([notes.map(({ code }) => code), truncated]).toEqual([["access-port-only"], false]);
  });

  test("is one, whatever protocols it speaks, and its port has each one's name", async () => {
    await hear();
    await hear({
      protocol: "cdp", chassis_id: "sw-store12.example.net", chassis_id_type: "local", port_id: "Et12", port_description: "Et12",
      native_vlan: null, voice_vlan: 30, vlan_ids: [30],
    });
    const { nodes, edges } = await read();
    expect(nodes).toHaveLength(2);
    expect(edges).toMatchObject([{
      protocols: ["lldp", "cdp"], target_port: "Ethernet12", native_vlan: 20, voice_vlan: 30, vlan_ids: [20, 30],
      target_port_names: [{ protocol: "lldp", port_id: "Ethernet12" }, { protocol: "cdp", port_id: "Et12" }],
    }]);
  });

  test("on two of a switch's ports is one machine with two cables", async () => {
    const second = await bench.addProbe();
    await hear();
    await hear({ port_id: "Ethernet13", source_mac: "00:1c:73:00:99:1d" }, second);
    const { nodes, edges } = await read();
    expect([nodes.length, edges.map(({ target_port }) => target_port).toSorted()]).toEqual([3, ["Ethernet12", "Ethernet13"]]);
    expect(new Set(edges.map(({ target }) => target)).size).toBe(1);
  });
});

describe("a neighbour that is a device", () => {
  test.each<readonly [string, string, Partial<NeighborDiscovered>, number]>([
    ["chassis-mac", CHASSIS, {}, 1],
    ["source-mac", PORT_MAC, { chassis_id: "closet", chassis_id_type: "local" }, 1],
    ["management-address", "00:11:32:77:00:09", {}, 0.85],
    ["system-name", "00:11:32:77:00:09", { management_addresses: [], system_name: "SW-Store12.example.net" }, 0.5],
  ])("is found by its %s", async (by, mac, values, confidence) => {
    await found("192.0.2.2", mac, "sw-store12");
    await hear(values);
    const { nodes, edges } = await read();
    const id = await deviceAt("192.0.2.2");
    expect(nodes[1]).toMatchObject({ id, kind: "device", device_id: id, ip: "192.0.2.2", mac, presence_state: "online" });
    expect(edges).toMatchObject([{ target: id, matched_by: by, confidence }]);
  });

  test("is none where its address is two devices', or its name a factory's", async () => {
    await found("192.0.2.2", "00:11:32:77:00:09", "switch");
    await bench.server.db.insertInto("addresses").values({
      device_id: await bench.server.createDevice(bench.tenant, { ip: "192.0.2.77" }), tenant_id: bench.tenant.tenantId,
      site_id: bench.tenant.siteId, mac: "", ip: "192.0.2.2", ip_key: "x", first_seen: bench.now(), last_seen: bench.now(), current: 1,
    }).execute();
    await hear({ system_name: "Switch" });
    expect((await read()).edges).toMatchObject([{ matched_by: null }]);
  });

  test("has the link in its profile, from its own side", async () => {
    await found("192.0.2.2", CHASSIS, "core");
    await hear();
    await bench.clock.advance(2000);
    const answer = await bench.server.get(`/api/v1/devices/${await deviceAt("192.0.2.2")}`, bench.tenant.token);
    const profile = DeviceProfile.parse(answer.body);
    expect(profile.neighbors).toMatchObject([
      {
        protocol: "lldp", system_name: "store-12", port_id: "lan0", local_port: "Ethernet12", probe_id: probe.probeId, state: "up",
        matched_by: "chassis-mac",
      },
    ]);
    expect(profile.evidence["device_type"]).toMatchObject([{ value: "switch", source: "lldp" }]);
  });

  test("is named by the stream's event", async () => {
    await found("192.0.2.2", CHASSIS);
    await hear();
    const row = await bench.server.db.selectFrom("events").selectAll().where("type", "=", "neighbor_discovered").executeTakeFirstOrThrow();
    expect(row.device_id).toBe(await deviceAt("192.0.2.2"));
  });

  test("whose chassis sends from two network cards is one device", async () => {
    await found("192.0.2.20", "00:1b:21:aa:bb:01");
    await found("192.0.2.21", "00:1b:21:aa:bb:02");
    for (const last of ["01", "02"]) {
      await hear({ chassis_id: "00:1b:21:aa:bb:01", port_id: `eth${last}`, source_mac: `00:1b:21:aa:bb:${last}` });
    }
    const devices = await bench.server.db.selectFrom("devices").select(["id", "mac_count"]).execute();
    expect(devices).toMatchObject([{ mac_count: 2 }]);
    const merges = await bench.server.db.selectFrom("device_merges").select("reasons").execute();
    expect(JSON.parse(merges[0]?.reasons ?? "")).toMatchObject([{ key: "lldp_chassis_id 00:1b:21:aa:bb:01", source: "lldp" }]);
  });
});

describe("a neighbour that goes", () => {
  const place = { protocol: "lldp", local_interface: "lan0", chassis_id: CHASSIS, port_id: "Ethernet12" } as const;

  test("is left out, and gone where those are asked for too", async () => {
    await hear();
    await bench.tell(probe, {
      type: "neighbor_lost", data: { ...place, system_name: "sw-store12", reason: "expired", last_seen_at: bench.now() },
    });
    const { edges, notes } = await read();
    expect([edges, notes.map(({ code }) => code)]).toEqual([[], ["no-neighbors"]]);
    expect((await read("?include_gone=true")).edges).toMatchObject([{ state: "gone", target_port: "Ethernet12" }]);
  });

  test("without a word, as its probe's records were lost, is gone by the probe's report", async () => {
    await hear();
    await hear({ port_id: "Ethernet13", source_mac: "00:1c:73:00:99:1d" });
    const { local_interface, ...there } = place;
    await bench.tell(probe, { type: "neighbor_report", data: { local_interface, neighbors: [{ ...there, last_seen_at: bench.now() }] } });
    expect((await read()).edges.map(({ target_port }) => target_port)).toEqual(["Ethernet12"]);
    await hear({ port_id: "Ethernet13", source_mac: "00:1c:73:00:99:1d" });
    expect((await read()).edges).toHaveLength(2);
  });

  test("is not known to be there while its probe is silent", async () => {
    await hear();
    await bench.server.db.updateTable("probes").set({ state: "silent" }).execute();
    expect((await read()).edges).toMatchObject([{ state: "unknown" }]);
  });
});

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
  const tell = (values?: Partial<SwitchReport>, of = probe) => bench.tell(of, { type: "switch_report", data: report(values) });
  const drawn = ({ nodes, edges }: Topology) => {
    const name = (id: string) => nodes.find((node) => node.id === id)?.name;
    return edges.map(
      (edge) => [edge.kind, name(edge.source), edge.source_port, name(edge.target), edge.target_port, edge.protocols.join()].join(" "),
    ).toSorted();
  };

  test("has cables to other switches and to devices, and is the machine that the probe hears", async () => {
    await found("192.0.2.9", SERVER, "server");
    await hear();
    await tell();
    const topology = await read();
    expect(drawn(topology)).toEqual([
      "access sw-store12 Ethernet1 server  bridge", "probe store-12 lan0 sw-store12 Ethernet12 lldp",
      "uplink sw-store12 Ethernet48 core Ethernet3 lldp",
    ]);
    expect([topology.nodes.length, topology.notes]).toEqual([4, []]);
    expect(topology.edges.find(({ kind }) => kind === "access")).toMatchObject({
      native_vlan: 20, matched_by: "interface-mac", confidence: 0.95, state: "up",
    });
    const profile = DeviceProfile.parse(
      (await bench.server.get(`/api/v1/devices/${await deviceAt("192.0.2.9")}`, bench.tenant.token)).body,
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
    const topology = await read();
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
    await found("192.0.2.9", SERVER, "server");
    await found("192.0.2.10", PRINTER, "printer");
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
    expect(drawn(await read())).toEqual([
      "access one a1 server  bridge", "access three c2 printer  bridge", "uplink one a2 two b1 bridge", "uplink two b2 three c1 bridge",
    ]);
  });

  test("has a host at the port with the fewest, where several hear it", async () => {
    await found("192.0.2.9", SERVER, "server");
    await tell({ ...ROW[0], macs: [ONE], neighbors: [], ports: ports("a1"), hosts: heard("a1", SERVER, PRINTER) });
    await tell({ ...ROW[1], macs: [TWO], neighbors: [], ports: ports("b1"), hosts: heard("b1", SERVER) });
    expect(drawn(await read())).toEqual(["access two b1 server  bridge"]);
    await tell({ ...ROW[1], answers: false, macs: [], neighbors: [], ports: [], hosts: [] });
    await bench.clock.advance(2000);
    expect(drawn(await read())).toEqual(["access one a1 server  bridge"]);
  });

  test("is a device with its words as evidence; who it has spoken to gets a weak one and is not online by it", async () => {
    await found("192.0.2.2", CHASSIS, "sw");
    await found("192.0.2.9", SERVER, "server");
    await bench.tell(probe, { type: "host_offline", data: { ip: "192.0.2.9", mac: SERVER, last_seen_at: bench.now(), missed_checks: 3 } });
    await tell({ engine_id: "80001f888001020304", addresses: [{ ip: "192.0.2.9", mac: SERVER }] });
    const profile =
      async (ip: string) => DeviceProfile.parse((await bench.server.get(`/api/v1/devices/${await deviceAt(ip)}`, bench.tenant.token)).body);
    expect((await profile("192.0.2.2")).evidence["system_name"]).toMatchObject([{ value: "sw-store12", source: "snmp" }]);
    const server = await profile("192.0.2.9");
    expect([server.evidence["address"], server.presence_state]).toMatchObject([
      [{ value: "192.0.2.9", source: "snmp-arp", confidence: 0.3 }], "offline",
    ]);
    const keys = await bench.server.db.selectFrom("device_keys").select("key").execute();
    expect(keys.map(({ key }) => key)).toContain("snmp_engine_id 80001f888001020304");
  });

  test("that does not answer any more is gone, and moves its hosts with its next report", async () => {
    await found("192.0.2.9", SERVER, "server");
    await tell();
    await tell({ hosts: [{ mac: SERVER, port: "Ethernet7", vlan: null }], neighbors: [] });
    expect(drawn(await read())).toEqual(["access sw-store12 Ethernet7 server  bridge"]);
    await tell({ answers: false, system_name: "", macs: [], ports: [], neighbors: [], hosts: [] });
    expect((await read()).edges).toEqual([]);
    expect((await read("?include_gone=true")).edges).toMatchObject([{ state: "gone", source_port: "Ethernet7" }]);
  });

  test("of another tenant is nobody's", async () => {
    await tell();
    const other = await bench.server.createTenant("viewer");
    expect(await read("", other.token)).toMatchObject({ nodes: [], edges: [] });
  });
});

describe("the graph", () => {
  test("is one site's where one is asked for, and never another tenant's", async () => {
    await hear();
    const other = await bench.server.createTenant("viewer");
    expect((await read("", other.token)).nodes).toEqual([]);
    expect((await bench.server.get(`/api/v1/topology?site_id=${bench.tenant.siteId}`, other.token)).error).toMatchObject({
      code: "NOT_FOUND",
    });
    expect((await bench.server.get(`/api/v1/topology?site_id=${createId()}`, bench.tenant.token)).status).toBe(404);
    expect((await read(`?site_id=${bench.tenant.siteId}`)).edges).toHaveLength(1);
    const second = createId();
    await bench.server.db.insertInto("sites")
      .values({ id: second, tenant_id: bench.tenant.tenantId, name: "second", probe_configuration: "{}", created_at: bench.now() })
      .execute();
    expect(await read(`?site_id=${second}`)).toMatchObject({ nodes: [], edges: [] });
  });

  test("is not sent again to who has it", async () => {
    await hear();
    const headers = { authorization: `Bearer ${bench.tenant.token}` };
    const first = await bench.server.request("/api/v1/topology", { headers });
    const again = await bench.server.request("/api/v1/topology", {
      headers: { ...headers, "if-none-match": first.headers.get("etag") ?? "" },
    });
    expect([first.status, again.status, first.headers.get("cache-control")]).toEqual([200, 304, "private, max-age=5"]);
    await hear({ port_id: "Ethernet14" });
    await bench.clock.advance(2000);
    const changed = await bench.server.request("/api/v1/topology", {
      headers: { ...headers, "if-none-match": first.headers.get("etag") ?? "" },
    });
    expect(changed.status).toBe(200);
  });

  test("of a probe that tells of thousands keeps the newest", async () => {
    for (let batch = 0; batch < 3; batch += 1) {
      await bench.tell(probe, ...Array.from(
        { length: 450 }, (_, index) => ({ type: "neighbor_discovered" as const, data: neighbor({ port_id: `port-${batch}-${index}` }) }),
      ));
      await bench.clock.advance(1000);
    }
    const { total } = await bench.server.db.selectFrom("neighbors").select((eb) => eb.fn.countAll<number>().as("total"))
      .executeTakeFirstOrThrow();
    expect(total).toBe(1024);
    const kept = await bench.server.db.selectFrom("neighbors").select("key").where("key", "like", "%port-2-%").execute();
    expect(kept).toHaveLength(450);
  });
});
