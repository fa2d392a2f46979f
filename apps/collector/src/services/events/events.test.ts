import { ApiKeyCreated, EventsPage } from "@lanthorn/contract";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { startGateway } from "../../testing/gateway-for-test.ts";

const HOST = { ip: "192.0.2.1", mac: "02:00:00:00:00:01", hostname: "", vendor: "", addresses: [], evidence: [] };
const FOUND = { type: "host_found", data: HOST } as const;
const CREATED = { type: "alert_created", data: { title: "x" } } as const;

async function start() {
  const clock = createFakeClock(Date.UTC(2026, 5, 1));
  const server = await startGateway({ clock });
  const tenant = await server.createTenant("viewer");
  const get = (query = "", token = tenant.token) => server.get(`/api/v1/events${query}`, token);
  const read = async (query = "") => EventsPage.strict().parse((await get(query)).body);
  const seqs = async (query = "") => (await read(query)).data.map(({ seq }) => seq);
  return { clock, server, tenant, get, read, seqs };
}

describe("the list of events", () => {
  test("has what the stream and webhooks send, in order, and nothing of what stays inside", async () => {
    const { server, tenant, read } = await start();
    await server.append(tenant, [FOUND, { type: "presence_report", data: {} }, CREATED, { type: "scan_complete", data: {} }]);
    const { data, meta } = await read();
    expect(data).toMatchObject([
      { seq: 1, type: "host_found", event: "host_found", webhook_event: "device.discovered", site_id: tenant.siteId, data: HOST },
      { seq: 3, type: "alert_created", event: null, webhook_event: "alert.created" },
      { seq: 4, type: "scan_complete", event: "scan_complete", webhook_event: "scan.completed" },
    ]);
    expect(meta).toEqual({ page: 1, per_page: 100, total: 4, next_cursor: null, position: 4 });
    expect((await server.get("/api/v1/events", (await server.createTenant("viewer")).token)).body).toMatchObject({ data: [] });
  });

  test("is read to its end by cursor, and on from its position, without gaps or repeats", async () => {
    const { server, tenant, read } = await start();
    await server.append(tenant, Array.from({ length: 7 }, () => FOUND));
    const seen: number[] = [];
    let cursor: string | null = null;
    let position = 0;
    do {
      const page: EventsPage = await read(`?per_page=3${cursor === null ? "" : `&cursor=${cursor}`}`);
      seen.push(...page.data.map(({ seq }) => seq));
      ({ next_cursor: cursor, position } = page.meta);
    } while (cursor !== null);
    await server.append(tenant, [FOUND, FOUND]);
    const { data } = await read(`?since=${position}`);
    expect([...seen, ...data.map(({ seq }) => seq)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("is narrowed by moments, by names of either channel, and by the site", async () => {
    const { clock, server, tenant, get, seqs } = await start();
    await server.append(tenant, [FOUND, CREATED]);
    await clock.leap(3_600_000);
    await server.append(tenant, [FOUND, { type: "error", data: {}, siteId: null }]);
    expect(await seqs("?since=30m")).toEqual([3, 4]);
    expect(await seqs("?until=30m")).toEqual([1, 2]);
    expect(await seqs("?since=2026-06-01T00:30:00Z&types=host_found")).toEqual([3]);
    expect(await seqs("?types=alert.created,error")).toEqual([2, 4]);
    expect(await seqs(`?site_id=${tenant.siteId}&since=1`)).toEqual([2, 3]);
    expect((await get(`?site_id=${createId()}`)).status).toBe(404);
    expect((await get("?since=30m&until=2h")).status).toBe(400);
    for (const query of ["?types=unknown", "?since=yesterday", "?cursor=x", "?per_page=0"]) expect((await get(query)).status).toBe(400);
  });

  test("says where it goes on when the log no longer reaches back as far, as the stream does", async () => {
    const { server, tenant, get, seqs } = await start();
    await server.append(tenant, [FOUND, FOUND, FOUND]);
    await server.db.deleteFrom("events").where("seq", "=", 1).execute();
    for (const query of ["?since=0", "?cursor=0"]) {
      const answer = await get(query);
      expect([answer.status, answer.error.details]).toEqual([409, { reason: "gap", resume_from: 1 }]);
    }
    expect((await get("?since=99")).error.details).toEqual({ reason: "gap", resume_from: 3 });
    expect(await seqs("?since=1")).toEqual([2, 3]);
    expect(await seqs()).toEqual([2, 3]);
  });

  test("leaves out what the caller's scopes do not reach, and refuses it by name", async () => {
    const { server, tenant } = await start();
    await server.append(tenant, [FOUND, CREATED, { type: "backup_failed", data: {} }, { type: "scan_failed", data: {} }]);
    const made = await server.call("POST", "/api/v1/auth/keys", tenant.token, { name: "k", scopes: ["devices:read"] });
    const { key } = ApiKeyCreated.parse(made.body);
    expect((await server.call("GET", "/api/v1/events", key)).body).toMatchObject({ data: [{ seq: 1 }], meta: { position: 4 } });
    const answer = await server.call("GET", "/api/v1/events?types=host_found,alert.created", key);
    expect([answer.status, answer.error.details]).toEqual([403, { required: "alerts:read" }]);
  });

  test("of a long log without what is asked for ends each page after a stretch, with a cursor", async () => {
    const { server, tenant, read } = await start();
    const quiet = Array.from({ length: 10_000 }, () => ({ type: "presence_report", data: {} }) as const);
    for (let batch = 0; batch < 6; batch += 1) await server.append(tenant, quiet);
    await server.append(tenant, [FOUND]);
    const first = await read();
    expect(first).toMatchObject({ data: [], meta: { next_cursor: "50000" } });
    expect((await read("?cursor=50000")).data).toMatchObject([{ seq: 60_001 }]);
  });
});
