import { DeviceProfile, type NeighborDiscovered } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CHASSIS, createTopologyBench, neighbor, PORT_MAC, type TopologyBench } from "./testing/bench.ts";

let bench: TopologyBench;
beforeEach(async () => {
  bench = await createTopologyBench();
});
afterEach(() => bench.stop());

describe("a neighbor that is no device", () => {
  test("is a node, with the cable to it as an edge", async () => {
    await bench.hear();
    const { nodes, edges, notes, truncated } = await bench.readTopology();
    expect(nodes).toMatchObject([
      { id: `probe:${bench.probe.probeId}`, kind: "probe", name: "store-12", probe_id: bench.probe.probeId, presence_state: "online" },
      { kind: "neighbor", name: "sw-store12", device_id: null, ip: "192.0.2.2", mac: CHASSIS, capabilities: ["bridge", "router"] },
    ]);
    expect(edges).toMatchObject([{
      source: `probe:${bench.probe.probeId}`, source_port: "lan0", target: nodes[1]?.id, target_port: "Ethernet12", protocols: ["lldp"],
      state: "up", native_vlan: 20, vlan_ids: [20], matched_by: null, confidence: null,
    }]);
    expect([notes.map(({ code }) => code), truncated]).toEqual([["access-port-only"], false]);
  });

  test("is one, whatever protocols it speaks, and its port has each one's name", async () => {
    await bench.hear();
    await bench.hear({
      protocol: "cdp", chassis_id: "sw-store12.example.net", chassis_id_type: "local", port_id: "Et12", port_description: "Et12",
      native_vlan: null, voice_vlan: 30, vlan_ids: [30],
    });
    const { nodes, edges } = await bench.readTopology();
    expect(nodes).toHaveLength(2);
    expect(edges).toMatchObject([{
      protocols: ["lldp", "cdp"], target_port: "Ethernet12", native_vlan: 20, voice_vlan: 30, vlan_ids: [20, 30],
      target_port_names: [{ protocol: "lldp", port_id: "Ethernet12" }, { protocol: "cdp", port_id: "Et12" }],
    }]);
  });

  test("on two of a switch's ports is one machine with two cables", async () => {
    const second = await bench.addProbe();
    await bench.hear();
    await bench.hear({ port_id: "Ethernet13", source_mac: "00:1c:73:00:99:1d" }, second);
    const { nodes, edges } = await bench.readTopology();
    expect([nodes.length, edges.map(({ target_port }) => target_port).toSorted()]).toEqual([3, ["Ethernet12", "Ethernet13"]]);
    expect(new Set(edges.map(({ target }) => target)).size).toBe(1);
  });
});

describe("a neighbor that is a device", () => {
  test.each<readonly [string, string, Partial<NeighborDiscovered>, number]>([
    ["chassis-mac", CHASSIS, {}, 1],
    ["source-mac", PORT_MAC, { chassis_id: "closet", chassis_id_type: "local" }, 1],
    ["management-address", "00:11:32:77:00:09", {}, 0.85],
    ["system-name", "00:11:32:77:00:09", { management_addresses: [], system_name: "SW-Store12.example.net" }, 0.5],
  ])("is found by its %s", async (by, mac, values, confidence) => {
    await bench.found("192.0.2.2", mac, "sw-store12");
    await bench.hear(values);
    const { nodes, edges } = await bench.readTopology();
    const id = await bench.deviceAt("192.0.2.2");
    expect(nodes[1]).toMatchObject({ id, kind: "device", device_id: id, ip: "192.0.2.2", mac, presence_state: "online" });
    expect(edges).toMatchObject([{ target: id, matched_by: by, confidence }]);
  });

  test("is none where its address is two devices', or its name a factory's", async () => {
    await bench.found("192.0.2.2", "00:11:32:77:00:09", "switch");
    await bench.server.db.insertInto("addresses").values({
      device_id: await bench.server.createDevice(bench.tenant, { ip: "192.0.2.77" }), tenant_id: bench.tenant.tenantId,
      site_id: bench.tenant.siteId, mac: "", ip: "192.0.2.2", ip_key: "x", first_seen: bench.now(), last_seen: bench.now(), current: 1,
    }).execute();
    await bench.hear({ system_name: "Switch" });
    expect((await bench.readTopology()).edges).toMatchObject([{ matched_by: null }]);
  });

  test("has the link in its profile, from its own side", async () => {
    await bench.found("192.0.2.2", CHASSIS, "core");
    await bench.hear();
    await bench.clock.advance(2000);
    const answer = await bench.server.get(`/api/v1/devices/${await bench.deviceAt("192.0.2.2")}`, bench.tenant.token);
    const profile = DeviceProfile.parse(answer.body);
    expect(profile.neighbors).toMatchObject([
      {
        protocol: "lldp", system_name: "store-12", port_id: "lan0", local_port: "Ethernet12", probe_id: bench.probe.probeId, state: "up",
        matched_by: "chassis-mac",
      },
    ]);
    expect(profile.evidence["device_type"]).toMatchObject([{ value: "switch", source: "lldp" }]);
  });

  test("is named by the stream's event", async () => {
    await bench.found("192.0.2.2", CHASSIS);
    await bench.hear();
    const row = await bench.server.db.selectFrom("events").selectAll().where("type", "=", "neighbor_discovered").executeTakeFirstOrThrow();
    expect(row.device_id).toBe(await bench.deviceAt("192.0.2.2"));
  });

  test("whose chassis sends from two network cards is one device", async () => {
    await bench.found("192.0.2.20", "00:1b:21:aa:bb:01");
    await bench.found("192.0.2.21", "00:1b:21:aa:bb:02");
    for (const last of ["01", "02"]) {
      await bench.hear({ chassis_id: "00:1b:21:aa:bb:01", port_id: `eth${last}`, source_mac: `00:1b:21:aa:bb:${last}` });
    }
    const devices = await bench.server.db.selectFrom("devices").select(["id", "mac_count"]).execute();
    expect(devices).toMatchObject([{ mac_count: 2 }]);
    const merges = await bench.server.db.selectFrom("device_merges").select("reasons").execute();
    expect(JSON.parse(merges[0]?.reasons ?? "")).toMatchObject([{ key: "lldp_chassis_id 00:1b:21:aa:bb:01", source: "lldp" }]);
  });
});

describe("a neighbor that goes", () => {
  const place = { protocol: "lldp", local_interface: "lan0", chassis_id: CHASSIS, port_id: "Ethernet12" } as const;

  test("is left out, and gone where those are asked for too", async () => {
    await bench.hear();
    await bench.tell(bench.probe, {
      type: "neighbor_lost", data: { ...place, system_name: "sw-store12", reason: "expired", last_seen_at: bench.now() },
    });
    const { edges, notes } = await bench.readTopology();
    expect([edges, notes.map(({ code }) => code)]).toEqual([[], ["no-neighbors"]]);
    expect((await bench.readTopology("?include_gone=true")).edges).toMatchObject([{ state: "gone", target_port: "Ethernet12" }]);
  });

  test("without a word, as its probe's records were lost, is gone by the probe's report", async () => {
    await bench.hear();
    await bench.hear({ port_id: "Ethernet13", source_mac: "00:1c:73:00:99:1d" });
    const { local_interface, ...there } = place;
    await bench.tell(bench.probe, {
      type: "neighbor_report", data: { local_interface, neighbors: [{ ...there, last_seen_at: bench.now() }] },
    });
    expect((await bench.readTopology()).edges.map(({ target_port }) => target_port)).toEqual(["Ethernet12"]);
    await bench.hear({ port_id: "Ethernet13", source_mac: "00:1c:73:00:99:1d" });
    expect((await bench.readTopology()).edges).toHaveLength(2);
  });

  test("is not known to be there while its probe is silent", async () => {
    await bench.hear();
    await bench.server.db.updateTable("probes").set({ state: "silent" }).execute();
    expect((await bench.readTopology()).edges).toMatchObject([{ state: "unknown" }]);
  });
});

describe("the graph", () => {
  test("is one site's where one is asked for, and never another tenant's", async () => {
    await bench.hear();
    const other = await bench.server.createTenant("viewer");
    expect((await bench.readTopology("", other.token)).nodes).toEqual([]);
    expect((await bench.server.get(`/api/v1/topology?site_id=${bench.tenant.siteId}`, other.token)).error).toMatchObject({
      code: "NOT_FOUND",
    });
    expect((await bench.server.get(`/api/v1/topology?site_id=${createId()}`, bench.tenant.token)).status).toBe(404);
    expect((await bench.readTopology(`?site_id=${bench.tenant.siteId}`)).edges).toHaveLength(1);
    const second = createId();
    await bench.server.db.insertInto("sites")
      .values({ id: second, tenant_id: bench.tenant.tenantId, name: "second", probe_configuration: "{}", created_at: bench.now() })
      .execute();
    expect(await bench.readTopology(`?site_id=${second}`)).toMatchObject({ nodes: [], edges: [] });
  });

  test("is not sent again to who has it", async () => {
    await bench.hear();
    const headers = { authorization: `Bearer ${bench.tenant.token}` };
    const first = await bench.server.request("/api/v1/topology", { headers });
    const again = await bench.server.request("/api/v1/topology", {
      headers: { ...headers, "if-none-match": first.headers.get("etag") ?? "" },
    });
    expect([first.status, again.status, first.headers.get("cache-control")]).toEqual([200, 304, "private, max-age=5"]);
    await bench.hear({ port_id: "Ethernet14" });
    await bench.clock.advance(2000);
    const changed = await bench.server.request("/api/v1/topology", {
      headers: { ...headers, "if-none-match": first.headers.get("etag") ?? "" },
    });
    expect(changed.status).toBe(200);
  });

  test("of a probe that tells of thousands keeps the newest", async () => {
    for (let batch = 0; batch < 3; batch += 1) {
      await bench.tell(bench.probe, ...Array.from(
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
