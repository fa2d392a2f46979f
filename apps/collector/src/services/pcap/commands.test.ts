import { PCAP_WATCH_SECONDS } from "@lanthorn/contract";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { openPcapBench, reportOf } from "./testing/pcap-bench.ts";

const frame = { seq: 1, at: "2026-11-20T08:15:30.250Z", wire_length: 60, bytes: "AAAA" };

test("a capture is started at the probe with all that was asked for, and stopped", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  probe.handlers.pcap_start = () => ({ data: {} });
  probe.handlers.pcap_stop = () => ({ data: { running: true } });
  const order = { interface: "eth1", filter: "udp port 53", seconds: 30, packets: 10, bytes: 10_000, snap_length: 96, headers_only: true };
  expect((await bench.call("POST", "/pcap", { body: order, role: "viewer" })).status).toBe(403);
  const started = await bench.call("POST", "/pcap", { body: order, role: "operator" });
  const id = started.body.id as string;
  expect([started.status, started.headers["location"]]).toEqual([201, `/api/v1/pcap/${id}`]);
  expect(started.body).toMatchObject({
    state: "recording", trigger: "request", filter: "udp port 53", requested_by: "tester", limits: { seconds: 30, packets: 10, bytes: 10_000 }, probe_id: probe.probeId,
  });
  expect(probe.sent("pcap_start").map(({ data }) => data)).toEqual([{ pcap_id: id, ...order }]);
  expect((await bench.call("GET", `/pcap/${id}/download`)).status).toBe(409);
  const stopped = await bench.call("POST", `/pcap/${id}/stop`);
  expect([stopped.status, probe.sent("pcap_stop").map(({ data }) => data)]).toEqual([202, [{ pcap_id: id }]]);
  await probe.tell(reportOf(Buffer.from("x"), { pcap_id: id, trigger: "request" }));
  expect((await bench.call("GET", `/pcap/${id}`)).body).toMatchObject({ state: "at_probe", requested_by: "tester", limits: { seconds: 30 } });
  expect((await bench.call("POST", `/pcap/${id}/stop`)).status).toBe(409);
  for (const action of ["pcap.start", "pcap.stop"]) expect((await bench.audited(action)).map(({ target_id: target }) => target)).toEqual([id]);
});

test("a filter that does not compile is refused with the compiler's words, and leaves nothing but the audit", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  const words = "can't parse filter expression: syntax error";
  probe.handlers.pcap_start = () => ({ refused: words });
  probe.handlers.pcap_watch = probe.handlers.pcap_start;
  probe.handlers.pcap_export = probe.handlers.pcap_start;
  const period = { from: "2026-11-20T08:00:00.000Z", to: "2026-11-20T09:00:00.000Z" };
  for (const [path, body] of [["/pcap", { filter: "udp prot" }], ["/pcap/watch", { filter: "udp prot" }], ["/pcap/export", { ...period, filter: "udp prot" }]] as const) {
    const refused = await bench.call("POST", path, { body });
    expect([path, refused.status, refused.body.error.details]).toEqual([path, 400, [{ path: "filter", message: words }]]);
  }
  expect((await bench.call("GET", "/pcap")).body.data).toEqual([]);
  expect((await bench.audited("pcap.start.refused")).map(({ after }) => after?.["filter"])).toEqual(["udp prot"]);
  expect((await bench.audited("pcap.watch.refused")).length).toBe(1);
});

test("a refusal that is not about the filter is not said to be: what to configure, the interface, nothing there, not now", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  const ask = async (reason: string, path = "/pcap", body: object = {}) => {
    for (const command of ["pcap_start", "pcap_watch", "pcap_export"] as const) probe.handlers[command] = () => ({ refused: "the words", reason });
    const { status, body: { error } } = await bench.call("POST", path, { body });
    return [status, error.code, error.message, error.details];
  };
  const period = { from: "2026-11-20T08:00:00.000Z", to: "2026-11-20T09:00:00.000Z" };
  for (const [path, body] of [["/pcap", {}], ["/pcap/watch", {}], ["/pcap/export", period]] as const) {
    expect(await ask("not-configured", path, body)).toEqual([409, "CONFLICT", "the words", { reason: "not-configured", probe_id: probe.probeId }]);
  }
  expect(await ask("no-such-interface", "/pcap", { interface: "eth9" })).toEqual([400, "BAD_REQUEST", "interface: the words", [{ path: "interface", message: "the words" }]]);
  expect(await ask("no-such-file", "/pcap/export", period)).toEqual([404, "NOT_FOUND", "the words", null]);
  expect((await bench.call("GET", "/pcap")).body.data).toEqual([]);
  // A newer probe's reason is none that this collector knows.
  expect((await ask("no-such-moon")).slice(0, 2)).toEqual([400, "BAD_REQUEST"]);
  expect((await ask("not-now")).slice(0, 2)).toEqual([503, "SERVICE_UNAVAILABLE"]);
});

test("an export says what of the recording is wanted", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  probe.handlers.pcap_export = () => ({ data: {} });
  const order = { from: "2026-11-20T08:00:00.000Z", to: "2026-11-20T09:00:00.000Z", host: "192.0.2.7", peer: "00:1B:21:AA:BB:07", side: "source" };
  const made = await bench.call("POST", "/pcap/export", { body: order });
  expect([made.status, made.body.trigger, made.body.state]).toEqual([202, "export", "recording"]);
  expect(probe.sent("pcap_export")[0]?.data).toMatchObject({ ...order, peer: "00:1b:21:aa:bb:07", filter: "" });
  const wrong = [{ ...order, to: order.from }, { from: order.from, to: order.to, side: "source" }, { ...order, host: "x" }, { ...order, bytes: 2 ** 40 }];
  for (const body of wrong) expect((await bench.call("POST", "/pcap/export", { body })).status).toBe(400);
});

test("a record's limits are those that the probe keeps to, where they are lower", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  const limitsOf = async (path: string, body: object) => {
    const { body: made } = await bench.call("POST", path, { body });
    expect((await bench.call("GET", `/pcap/${made.id}`)).body.limits).toEqual(made.limits);
    return made.limits as unknown;
  };
  const order = { seconds: 3600, packets: 10, bytes: 10_000 };
  probe.handlers.pcap_start = () => ({ data: { seconds: 60, packets: 10, bytes: 5000 } });
  expect(await limitsOf("/pcap", order)).toEqual({ seconds: 60, packets: 10, bytes: 5000 });
  // Never more than was asked for, and nothing that is no number.
  probe.handlers.pcap_start = () => ({ data: { seconds: 7200, packets: "all", bytes: -1 } });
  expect(await limitsOf("/pcap", order)).toEqual(order);
  probe.handlers.pcap_export = () => ({ data: { bytes: 2000 } });
  const period = { from: "2026-11-20T08:00:00.000Z", to: "2026-11-20T09:00:00.000Z" };
  expect(await limitsOf("/pcap/export", { ...period, bytes: 4000 })).toEqual({ seconds: null, packets: null, bytes: 2000 });
});

test("a live view that was not read for half a minute is over: its probe is not asked again", async () => {
  const clock = createFakeClock(Date.now());
  const bench = await openPcapBench({ clock });
  const probe = await bench.probe();
  probe.handlers.pcap_watch = ({ after }) => ({ data: { frames: [], missed: 0, next: Number(after) } });
  const { body: view } = await bench.call("POST", "/pcap/watch", { body: {} });
  for (let read = 0; read < 3; read += 1) {
    await clock.advance(PCAP_WATCH_SECONDS * 1000 - 1000);
    expect((await bench.call("GET", `/pcap/watch/${view.id}?after=1`)).status).toBe(200);
  }
  const words = "this live view is over: the probe has started again";
  probe.handlers.pcap_watch = () => ({ refused: words });
  expect((await bench.call("GET", `/pcap/watch/${view.id}?after=1`)).body.error.details).toEqual([{ path: "after", message: words }]);
  const heard = probe.sent("pcap_watch").length;
  await clock.advance(PCAP_WATCH_SECONDS * 1000 + 1000);
  for (const after of [0, 1]) expect((await bench.call("GET", `/pcap/watch/${view.id}?after=${after}`)).status).toBe(404);
  expect(probe.sent("pcap_watch")).toHaveLength(heard);
});

test("a probe that is away or silent is said to be so, and what was asked of it is not left running in the list", async () => {
  const clock = createFakeClock(Date.now());
  const bench = await openPcapBench({ clock });
  expect((await bench.call("POST", "/pcap", { body: {} })).status).toBe(503);
  const probe = await bench.probe();
  const asked = bench.call("POST", "/pcap", { body: {} });
  await expect.poll(() => probe.sent("pcap_start").length).toBe(1);
  await clock.advance(20_000);
  const answer = await asked;
  expect([answer.status, answer.body.error.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
  const { data } = (await bench.call("GET", "/pcap")).body;
  expect(data).toMatchObject([{ state: "failed" }]);
  // It had begun all the same, and says so.
  await probe.tell(reportOf(Buffer.from("x"), { pcap_id: data[0].id, trigger: "request" }));
  expect((await bench.call("GET", `/pcap/${data[0].id}`)).body.state).toBe("at_probe");
});

test("a live view is read by who began it alone, needs the scope for packets and the site's reason, and is audited", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  probe.handlers.pcap_watch = ({ after, limit }) => ({ data: { frames: limit === 0 ? [] : [{ ...frame, seq: Number(after) + 1 }], missed: 3, next: Number(after) + 1 } });
  const body = { filter: "udp port 53", snap_length: 128 };
  expect((await bench.call("POST", "/pcap/watch", { body, role: "operator" })).status).toBe(403);
  const begun = await bench.call("POST", "/pcap/watch", { body });
  expect([begun.status, begun.body]).toMatchObject([201, { probe_id: probe.probeId, frames: [frame], missed: 3, next: 1 }]);
  const path = `/pcap/watch/${begun.body.id}`;
  expect((await bench.call("GET", `${path}?after=1&limit=50`)).body).toMatchObject({ frames: [{ seq: 2 }], next: 2 });
  expect(probe.sent("pcap_watch").map(({ data }) => [data["watch_id"], data["after"], data["limit"]]).at(-1)).toEqual([begun.body.id, 1, 50]);
  expect((await bench.call("GET", path, { tenantId: createId() })).status).toBe(404);
  expect((await bench.call("POST", `${path}/stop`)).status).toBe(204);
  expect((await bench.call("GET", path)).status).toBe(404);
  await bench.call("PUT", `/pcap/settings/${bench.stack.siteId}`, { body: { require_reason: true } });
  expect((await bench.call("POST", "/pcap/watch", { body })).status).toBe(400);
  expect((await bench.call("POST", "/pcap/watch", { body: { ...body, reason: "case 7" } })).status).toBe(201);
  expect((await bench.audited("pcap.watch")).map(({ after }) => [after?.["filter"], after?.["reason"]])).toEqual([["udp port 53", null], ["udp port 53", "case 7"]]);
});

test("a probe cannot answer for another one, and what is no answer is said to be none", async () => {
  const bench = await openPcapBench();
  const [probe, other] = [await bench.probe(), await bench.probe()];
  const asked = bench.call("POST", "/pcap/watch", { body: { probe_id: probe.probeId } });
  await expect.poll(() => probe.sent("pcap_watch").length).toBe(1);
  const commandId = probe.sent("pcap_watch")[0]?.id ?? "";
  const reply = (probeId: string, data: object) => bench.stack.ingest.receive({
    tenantId: bench.stack.tenantId, probeId, channel: "replies", retained: false,
    payload: Buffer.from(JSON.stringify({ v: 1, command_id: commandId, ok: true, error: null, data })),
  });
  await reply(other.probeId, { frames: [frame], missed: 0, next: 1 });
  await reply(probe.probeId, { frames: "all" });
  expect((await asked).status).toBe(503);
});

test("a site's settings go to its probes, and say nothing where nobody has set any", async () => {
  const bench = await openPcapBench();
  const before = (await bench.call("GET", `/pcap/settings/${bench.stack.siteId}`, { role: "viewer" })).body;
  expect(before).toMatchObject({ evidence: true, upload: "at_once", headers_only_networks: [], usage: { files: 0, bytes: 0 } });
  expect((await bench.call("PUT", `/pcap/settings/${bench.stack.siteId}`, { body: { upload: "on_demand" }, role: "operator" })).status).toBe(403);
  for (const body of [{ upload: "never" }, { headers_only_networks: ["x"] }, { colour: "red" }]) {
    expect((await bench.call("PUT", `/pcap/settings/${bench.stack.siteId}`, { body })).status).toBe(400);
  }
  const after = await bench.call("PUT", `/pcap/settings/${bench.stack.siteId}`, { body: { upload: "on_demand", headers_only_networks: ["192.0.2.77/28"] } });
  expect(after.body).toMatchObject({ upload: "on_demand", headers_only_networks: ["192.0.2.64/28"], evidence: true });
  expect((await bench.audited("pcap.configure")).length).toBe(1);
});
