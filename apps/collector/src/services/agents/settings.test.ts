import { EnrollmentToken, EnrollmentTokenRecord, listEnvelope, Probe, ProbeHealth, ProbeSettings } from "@lanthorn/contract";
import { createFakeClock, createId, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createHealthHistory } from "./health-history.ts";
import { enrollListening, type ListeningProbe } from "./testing/listening-probe.ts";
import { type Stack, startStack } from "./testing/stack.ts";

let stack: Stack;
let probe: ListeningProbe;
beforeEach(async () => {
  stack = await startStack();
  probe = await enrollListening(stack);
});
afterEach(async () => {
  probe.end();
  await stack.close();
});

const at = (rest = "") => `/api/v1/agents/probes/${probe.probeId}${rest}`;
const settings = async () => ProbeSettings.parse((await stack.call("GET", at("/configuration"))).body);
const change = async (body: object) => stack.call("PUT", at("/configuration"), { body });

describe("a probe's configuration", () => {
  test("is the site's with its own over it, rises with every change of either, and reaches the probe", async () => {
    const first = await settings();
    expect(first).toMatchObject({
      own: { sweep: {}, excluded: [] }, effective: { sweep: { packets_per_second: 200 } }, applied_revision: null, error: null,
    });
    const answer = await change({ sweep: { packets_per_second: 20 }, excluded: ["10.0.0.9/24", "10.0.1.1"] });
    const received = await probe.hears(({ revision }) => revision > first.revision);
    expect(received).toMatchObject({ sweep: { enabled: true, packets_per_second: 20 }, excluded: ["10.0.0.0/24", "10.0.1.1"] });
    expect(ProbeSettings.parse(answer.body)).toMatchObject({ revision: received.revision, own: { sweep: { packets_per_second: 20 } } });
    await stack.call("PUT", `/api/v1/sites/${stack.siteId}`, {
      body: { sweep: { interval_seconds: 900, packets_per_second: 100 }, excluded: ["10.0.1.1"] },
    });
    const again = await probe.hears(({ revision }) => revision > received.revision);
    expect(again).toMatchObject({ sweep: { interval_seconds: 900, packets_per_second: 20 }, excluded: ["10.0.1.1", "10.0.0.0/24"] });
    await change({ sweep: null, excluded: null });
    expect(await probe.hears(({ revision }) => revision > again.revision)).toMatchObject({
      sweep: { packets_per_second: 100 }, excluded: ["10.0.1.1"],
    });
  });

  test("is acknowledged by the revision that the probe goes by, or with what is wrong", async () => {
    await change({ excluded: ["10.0.0.1"] });
    const { revision } = await settings();
    await probe.report({ configuration: { revision, error: null } });
    await expect.poll(settings).toMatchObject({ applied_revision: revision, error: null });
    await probe.report({ configuration: { revision, error: "no address" } });
    await expect.poll(async () => Probe.parse((await stack.call("GET", at())).body).configuration)
      .toEqual({ revision, applied_revision: revision, error: "no address" });
  });

  test("is held against the contract's schema", async () => {
    for (const body of [
      { sweep: { packets_per_second: 0 } }, { sweep: { colour: "red" } }, { excluded: ["printer"] }, { excluded: ["10.0.0.0/33"] },
      { v: 1 },
    ]) {
      expect((await change(body)).status).toBe(400);
    }
    const many = (second: number) => Array.from({ length: 1000 }, (_, index) => `10.${second}.${Math.floor(index / 200)}.${index % 200}`);
    for (const second of [1, 2, 3, 4]) {
      const before = (await stack.call("GET", `/api/v1/sites/${stack.siteId}`)).body as { readonly excluded: readonly string[] };
      await stack.call("PUT", `/api/v1/sites/${stack.siteId}`, { body: { excluded: [...before.excluded, ...many(second)] } });
    }
    const answer = await change({ excluded: many(5) });
    expect([answer.status, answer.body.error.details[0].path]).toEqual([400, "excluded"]);
    expect((await stack.call("PUT", at("/configuration"), { body: {}, tenantId: createId() })).status).toBe(404);
    expect((await stack.call("GET", at("/configuration"), { tenantId: createId() })).status).toBe(404);
  });
});

describe("a probe's record", () => {
  test("takes another name", async () => {
    expect(Probe.parse((await stack.call("PUT", at(), { body: { name: "Rack 3" } })).body).name).toBe("Rack 3");
    expect((await stack.call("PUT", at(), { body: { name: " " } })).status).toBe(400);
    expect((await stack.call("PUT", at(), { body: { name: "x" }, tenantId: createId() })).status).toBe(404);
  });

  test("has its health of every five minutes behind it, for a week", async () => {
    const clock = createFakeClock(Date.UTC(2026, 10, 20));
    const history = createHealthHistory({ db: stack.database.db, clock, logger: silentLog });
    const sample = (uptime_seconds: number) => ProbeHealth.parse({ ...HEALTH, uptime_seconds });
    for (let minute = 0; minute < 20; minute += 1) {
      await history.heard({ probeId: probe.probeId, tenantId: stack.tenantId, siteId: stack.siteId }, sample(minute * 60));
      await clock.advance(60_000);
    }
    const read = async (query = "") => listEnvelope(ProbeHealth).parse((await stack.call("GET", at(`/health${query}`))).body);
    expect((await read()).data.map(({ uptime_seconds: seconds }) => seconds / 60)).toEqual([15, 10, 5, 0]);
    const page = await read("?per_page=3");
    expect(page.meta).toMatchObject({ total: 4, next_cursor: "2026-11-20T00:05:00.000Z" });
    expect((await read(`?per_page=3&cursor=${page.meta.next_cursor}`)).data.length).toBe(1);
    expect((await read("?since=2026-11-20T00:05:00Z&until=2026-11-20T00:15:00Z")).data.length).toBe(2);
    expect((await stack.call("GET", at("/health"), { tenantId: createId() })).status).toBe(404);
    clock.jump(7 * 86_400_000);
    await history.job.run();
    expect((await read()).data).toEqual([]);
    await history.job.close();
  });
});

test("enrollment tokens are listed and read without what they are, and deleted while they are good", async () => {
  const made = await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: stack.siteId } });
  const { id, token } = EnrollmentToken.parse(made.body);
  expect(made.headers["location"]).toBe(`/api/v1/agents/tokens/${id}`);
  const read = await stack.call("GET", `/api/v1/agents/tokens/${id}`);
  expect(EnrollmentTokenRecord.strict().parse(read.body)).toMatchObject({ id, used_at: null, probe_id: null });
  expect((await stack.call("GET", `/api/v1/agents/tokens/${id}`, { tenantId: createId() })).status).toBe(404);
  const answer = await stack.call("GET", "/api/v1/agents/tokens");
  expect(listEnvelope(EnrollmentTokenRecord).parse(answer.body).data).toMatchObject([{ id, used_at: null }, { probe_id: probe.probeId }]);
  expect(JSON.stringify(answer.body)).not.toContain(token.split(".")[1]);
  const used = listEnvelope(EnrollmentTokenRecord).parse(answer.body).data[1]?.id ?? "";
  expect((await stack.call("DELETE", `/api/v1/agents/tokens/${used}`)).status).toBe(409);
  expect((await stack.call("DELETE", `/api/v1/agents/tokens/${id}`, { tenantId: createId() })).status).toBe(404);
  expect((await stack.call("DELETE", `/api/v1/agents/tokens/${id}`)).status).toBe(204);
  expect((await stack.call("POST", "/api/v1/agents/enroll", { body: { token, certificate_request: "x", name: "box" } })).status).toBe(401);
});

const HEALTH = {
  v: 1, at: "2026-11-20T00:00:00.000Z", version: "1", cpu_percent: 1, load_1m: 0,
  memory: { rss_bytes: 1, available_bytes: 1, total_bytes: 2 }, disk: { free_bytes: 1, total_bytes: 2 }, temperature_celsius: null,
  capture: { frames: 0, dropped: 0 }, queue: { events: 0, bytes: 0, oldest_at: null, dropped: 0 }, clock_offset_ms: null,
  interface: { name: "lan0", up: true }, hosts: { online: 0, known: 0 },
};
