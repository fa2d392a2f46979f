import { readFileSync } from "node:fs";
import { AnomalyModelChange, COMMANDS, DeviceBehaviour, LearnedDevice, type ProbeHealth, type TrafficHealth } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { openPcapBench, type PcapBench, type RecordingProbe } from "../pcap/testing/pcap-bench.ts";

const MAC = "00:80:77:0c:22:01";
const REPLY = JSON.parse(readFileSync(new URL("../../../../../packages/contract/samples/v1/reply-behaviour-read.json", import.meta.url), "utf8")) as { data: Record<string, unknown> };
const STATE: NonNullable<TrafficHealth["anomaly"]> = {
  learning: 2, active: 7, drifted: 0, frozen: 0, evicted: 0, compared_hours: 30, distrusted_hours: 1, clock_steps: 0, found: 1, held_back: 0, suppressed: 0, left_out: 0, flows_left_out: 0, damaged: 0,
};

const since = "2026-11-20T08:00:00.000Z";
const unseen = { value: false, since };
const COVERAGE: ProbeHealth["coverage"] = {
  vlans: { value: [], since }, other_hosts: { value: "none", since }, gateway: { value: "answers", since }, lldp: unseen, cdp: unseen, spanning_tree: unseen, ipv6: unseen, dhcp: { value: "asked", since },
};

/** A device with a second interface and an address that it has no more. */
async function addDevice({ stack: { database: { db }, tenantId, siteId } }: PcapBench, of: { readonly tenantId?: string; readonly siteId?: string } = {}): Promise<string> {
  const [id, at] = [createId(), toInstant(Date.now())];
  const owner = { tenant_id: of.tenantId ?? tenantId, site_id: of.siteId ?? siteId };
  await db.insertInto("devices").values({
    ...owner, id, ip: "10.0.0.7", ip_key: "4:0a000007", mac: MAC, hostname: "", hostname_key: "", vendor: "", os_guess: "", device_type: "unknown", is_online: 1, presence_state: "online", first_seen: at, last_seen: at,
    open_ports: "[]", tags: "[]", locked_fields: "[]",
  }).execute();
  for (const mac of [MAC, "00:80:77:0c:22:02"]) await db.insertInto("interfaces").values({ ...owner, device_id: id, mac, vendor: "", first_seen: at }).execute();
  await db.insertInto("addresses").values({ ...owner, device_id: id, mac: MAC, ip: "10.0.0.9", ip_key: "4:0a000009", first_seen: at, last_seen: at, current: 0 }).execute();
  return id;
}

async function watches(bench: PcapBench, { probeId }: RecordingProbe): Promise<void> {
  const traffic: TrafficHealth = { state: "running", error: null, memory_bytes: 1, restarts: 0, gap: null, interfaces: [{ name: "eth1", up: true, frames: 1, octets: 1, dropped_by_kernel: 0 }], shed: [], ring: { seconds: 0, bytes: 0 }, captures: [], continuous: null, anomaly: STATE };
  await bench.stack.database.db.updateTable("probes").set({ health: JSON.stringify({ traffic, interface: { name: "eth1", up: true }, coverage: COVERAGE }) }).where("id", "=", probeId).execute();
}

test("what is usual for a device is asked of the probes of its site, each of which answers or says why not", async () => {
  const bench = await openPcapBench();
  const [probe, blind] = [await bench.probe(), await bench.probe()];
  const device = await addDevice(bench);
  await watches(bench, probe);
  const read = async () => DeviceBehaviour.parse((await bench.call("GET", `/devices/${device}/behaviour`)).body).probes;
  const of = async (one: RecordingProbe) => (await read()).find(({ probe_id: id }) => id === one.probeId);
  probe.handlers.behaviour_read = () => ({ data: REPLY.data });
  expect(await of(probe)).toMatchObject({ problem: null, other_hosts: "none", behaviour: { device: MAC, lifecycle: "active", peers: [{ name: "203.0.113.7", share: 0.92 }] } });
  expect(probe.sent("behaviour_read").at(-1)?.data).toEqual({ devices: [MAC, "00:80:77:0c:22:02", "10.0.0.7", "10.0.0.9"] });
  expect((await bench.call("GET", "/anomalies/models")).body.data.map((one: { other_hosts: unknown }) => one.other_hosts).toSorted()).toEqual(["none", null]);
  expect([await of(blind), blind.heard]).toMatchObject([{ problem: expect.stringContaining("does not watch") as string, behaviour: null }, []]);
  for (const [answer, problem] of [
    [{ data: { behaviour: null } }, null], [{ data: { behaviour: { device: 7 } } }, "its answer cannot be read"], [{ refused: "the traffic process is busy", reason: "not-now" }, "the traffic process is busy"],
  ] as const) {
    probe.handlers.behaviour_read = () => answer;
    expect(await of(probe)).toMatchObject({ problem, behaviour: null });
  }
  await bench.stack.database.db.updateTable("probes").set({ state: "silent" }).where("id", "=", probe.probeId).execute();
  expect((await of(probe))?.problem).toContain("is silent since");
  for (const [path, options] of [[createId(), {}], [device, { tenantId: createId() }]] as const) expect((await bench.call("GET", `/devices/${path}/behaviour`, options)).status).toBe(404);
});

test("the devices that a probe knows are listed by state and page", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  await watches(bench, probe);
  const { device: _, ...about } = LearnedDevice.parse(REPLY.data["behaviour"]);
  const names = ["00:80:77:0c:22:01", "00:80:77:0c:22:02", "10.1.0.9"];
  probe.handlers.behaviour_list = (data) => {
    const { behind, limit } = COMMANDS.behaviour_list.parse(data);
    const first = typeof behind === "number" ? behind : names.indexOf(behind) + 1;
    return { data: { devices: names.slice(first, first + limit).map((device) => ({ ...about, device })), total: 3 } };
  };
  const path = `/anomalies/models/${probe.probeId}/devices`;
  const list = async (query: string) => {
    const { data, meta } = (await bench.call("GET", `${path}?${query}`)).body as { data: unknown[]; meta: { total: number; next_cursor: string | null } };
    return [data.map((one) => LearnedDevice.parse(one).device), meta.total, meta.next_cursor];
  };
  expect(await list("per_page=2&lifecycle=active,drifted")).toEqual([names.slice(0, 2), 3, names[1]]);
  expect(await list(`per_page=2&cursor=${names[1]}`)).toEqual([names.slice(2), 3, null]);
  expect(await list("per_page=2&page=2")).toEqual([names.slice(2), 3, null]);
  expect(probe.heard.map(({ data }) => data)).toEqual([
    { lifecycles: ["active", "drifted"], behind: 0, limit: 3 }, { lifecycles: null, behind: names[1], limit: 3 }, { lifecycles: null, behind: 2, limit: 3 },
  ]);
  for (const [query, options, status] of [["lifecycle=asleep", {}, 400], ["per_page=201", {}, 400], ["", { tenantId: createId() }, 404]] as const) expect((await bench.call("GET", `${path}?${query}`, options)).status).toBe(status);
  probe.handlers.behaviour_list = () => ({ refused: "it does not watch", reason: "not-configured" });
  expect((await bench.call("GET", path)).status).toBe(409);
});

test("a probe that answers something else than was asked for is no failure of the collector's, and leads no client in circles", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  await watches(bench, probe);
  const { device: _, ...about } = LearnedDevice.parse(REPLY.data["behaviour"]);
  const path = `/anomalies/models/${probe.probeId}`;
  const answerOf = async (method: string, target: string, body?: object) => {
    const answer = await bench.call(method, `${path}/${target}`, body && { body });
    return [answer.status, answer.status === 200 ? null : answer.body.error.code];
  };
  const list = (query: string, data: Record<string, unknown>) => {
    probe.handlers.behaviour_list = () => ({ data });
    return answerOf("GET", `devices?${query}`);
  };
  const named = (...names: string[]) => ({ devices: names.map((device) => ({ ...about, device })), total: 3 });
  for (const data of [{}, { devices: [{ device: 7 }], total: 1 }, { ...named("a"), total: -1 }, named("b", "a"), named("a", "b", "b")]) {
    expect([data, await list("per_page=2", data)]).toEqual([data, [503, "SERVICE_UNAVAILABLE"]]);
  }
  for (const data of [named("a", "b", "c"), named("b"), named("c", "b")]) expect([data, await list("per_page=2&cursor=b", data)]).toEqual([data, [503, "SERVICE_UNAVAILABLE"]]);
  expect([await list("per_page=2&cursor=b", named("c", "d", "e")), await list("per_page=2&page=2", named("a"))]).toEqual([[200, null], [200, null]]);
  for (const [what, command] of [["freeze", "behaviour_freeze"], ["reset", "behaviour_reset"]] as const) {
    probe.handlers[command] = () => ({ data: { devices: "all" } });
    expect([what, await answerOf("POST", what, {})]).toEqual([what, [503, "SERVICE_UNAVAILABLE"]]);
  }
});

test("a device or all of a probe are frozen, learned again and reset by who may, each in the audit log", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  await watches(bench, probe);
  const device = await addDevice(bench);
  probe.handlers.behaviour_freeze = ({ devices }) => ({ data: { devices: devices === null ? 40 : 1 } });
  probe.handlers.behaviour_reset = () => ({ data: { devices: 40 } });
  const path = `/anomalies/models/${probe.probeId}`;
  const change = async (what: string, body: object) => AnomalyModelChange.parse((await bench.call("POST", `${path}/${what}`, { body })).body).devices;
  expect([await change("freeze", { device_id: device }), await change("freeze", { is_frozen: false }), await change("reset", {})]).toEqual([1, 40, 40]);
  expect(probe.heard.map(({ type, data }) => [type, data])).toEqual([
    ["behaviour_freeze", { devices: [MAC, "00:80:77:0c:22:02", "10.0.0.7", "10.0.0.9"], is_frozen: true }], ["behaviour_freeze", { devices: null, is_frozen: false }], ["behaviour_reset", { devices: null }],
  ]);
  expect((await bench.audited("anomaly_models.freeze")).map(({ target_id: target, after }) => [target, after])).toEqual([[probe.probeId, { device_id: device, is_frozen: true }], [probe.probeId, { is_frozen: false }]]);
  expect(await bench.audited("anomaly_models.reset")).toHaveLength(1);
  for (const [what, body, options, status] of [
    ["freeze", {}, { role: "viewer" }, 403], ["freeze", {}, { tenantId: createId() }, 404], ["reset", { device_id: createId() }, {}, 404], ["reset", { device: "x" }, {}, 400], ["freeze", { is_frozen: "yes" }, {}, 400],
  ] as const) expect([what, body, (await bench.call("POST", `${path}/${what}`, { body, ...options })).status]).toEqual([what, body, status]);
  probe.handlers.behaviour_reset = () => ({ refused: "it does not watch", reason: "not-configured" });
  expect((await bench.call("POST", `${path}/reset`, { body: {} })).status).toBe(409);
  await bench.stack.database.db.updateTable("probes").set({ state: "silent" }).execute();
  expect((await bench.call("POST", `${path}/reset`, { body: {} })).status).toBe(503);
});
