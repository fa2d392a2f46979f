import { AlertAction, BulkResult, listEnvelope } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AlertsBench, createAlertsBench, ids, rogue } from "./testing/bench.ts";

let bench: AlertsBench;
beforeEach(async () => void (bench = await createAlertsBench()));
afterEach(() => bench.server.stop());

/** As many alerts of rogue DHCP servers, more than a storm may raise at once, and one of the IDS. */
const raise = async (count: number) => {
  await bench.append([rogue(), ids()]);
  const { db } = bench.server;
  const row = await db.selectFrom("alerts").selectAll().where("source", "=", "rogue").executeTakeFirstOrThrow();
  for (let index = 1; index < count; index += 1) {
    await db.insertInto("alerts").values({ ...row, id: createId(), subject: `server ${index}`, open_key: `${row.open_key} ${index}` }).execute();
  }
};
const total = async (filter: string) => (await bench.list(`?per_page=1&filter=${encodeURIComponent(filter)}`)).meta.total;
const audited = async () => (await bench.server.db.selectFrom("audit").select("action").orderBy("id").execute()).map(({ action }) => action);

describe("a bulk change of alerts", () => {
  test("is of all that the filter leaves, each with its event and audit record", async () => {
    await raise(230);
    const expected = await total("source:rogue");
    expect(expected).toBe(230);
    const acknowledged = await bench.post("/bulk", { filter: "source:rogue", expected_count: expected, change: { status: "acknowledged" } });
    expect([acknowledged.status, BulkResult.parse(acknowledged.body)]).toEqual([200, { matched: 230, changed: 230, unchanged: 0, gone: 0 }]);
    expect(await total("status:acknowledged source:rogue")).toBe(230);
    const { data: [one] } = await bench.list("?source=rogue&per_page=1");
    await bench.post(`/${one?.id}/resolve`);
    const before = await bench.published();
    const resolved = await bench.post("/bulk", { filter: "source:rogue", expected_count: 230, change: { status: "resolved" } });
    expect(resolved.body).toEqual({ matched: 230, changed: 229, unchanged: 1, gone: 0 });
    expect((await bench.published()).slice(before.length)).toEqual(Array.from({ length: 229 }, () => "alert_resolved rogue_dhcp"));
    expect([await total("status:resolved"), await total("status:open")]).toEqual([230, 1]);
    const actions = await audited();
    expect(["alert.bulk", "alert.acknowledge", "alert.resolve"].map((action) => actions.filter((each) => each === action).length)).toEqual([2, 230, 230]);
    await bench.append([rogue()]);
    expect(await total("status:open source:rogue")).toBe(1);
  });

  test("of another number than was expected changes nothing; what is resolved stays so", async () => {
    await raise(3);
    const answer = await bench.post("/bulk", { filter: "source:rogue", expected_count: 2, change: { status: "resolved" } });
    expect([answer.status, answer.error.code, answer.error.details]).toEqual([409, "CONFLICT", { count: 3, expected_count: 2 }]);
    expect([await total("status:open"), await audited()]).toEqual([4, []]);
    const { data } = await bench.list("?source=rogue");
    const all = { ids: data.map(({ id }) => id), expected_count: 3 };
    await bench.post("/bulk", { ...all, change: { status: "resolved" } });
    expect((await bench.post("/bulk", { ...all, change: { status: "acknowledged" } })).body).toEqual({ matched: 3, changed: 0, unchanged: 3, gone: 0 });
  });

  test("has a note, which the alert's history keeps with who did it", async () => {
    await raise(2);
    const { data } = await bench.list("?source=rogue");
    const all = { ids: data.map(({ id }) => id), expected_count: 2 };
    const [first] = all.ids;
    await bench.post(`/${first}/acknowledge`);
    expect((await bench.post("/bulk", { ...all, change: { status: "acknowledged", note: " TICKET-7 " } })).body).toEqual({ matched: 2, changed: 1, unchanged: 1, gone: 0 });
    await bench.post("/bulk", { ...all, change: { status: "resolved", note: "the new server" } });
    const by = bench.tenant.username;
    const done = async (id = "", query = "") => listEnvelope(AlertAction).parse((await bench.server.get(`/api/v1/alerts/${id}/history${query}`, bench.tenant.token)).body);
    expect((await done(first)).data).toMatchObject([{ action: "resolved", by, note: "the new server", muted_until: null }, { action: "acknowledged", by, note: "" }]);
    const { data: [, noted], meta } = await done(all.ids[1]);
    expect([noted, meta.total]).toEqual([{ id: expect.any(String) as string, action: "acknowledged", at: bench.now(), by, note: "TICKET-7", muted_until: null }, 2]);
    const page = await done(first, "?per_page=1");
    expect((await done(first, `?per_page=1&cursor=${page.meta.next_cursor}`)).data).toMatchObject([{ action: "acknowledged" }]);
    const audit = await bench.server.db.selectFrom("audit").select("after").where("action", "=", "alert.acknowledge").orderBy("id").execute();
    expect(audit.map(({ after }) => JSON.parse(after ?? "") as unknown)).toEqual([{ status: "acknowledged" }, { status: "acknowledged", note: "TICKET-7" }]);
    const other = await bench.server.createTenant("admin");
    expect((await bench.server.get(`/api/v1/alerts/${first}/history`, other.token)).status).toBe(404);
    expect((await bench.post("/bulk", { ...all, change: { status: "resolved", note: "a\u001b[31m" } })).status).toBe(400);
    await bench.server.db.deleteFrom("alerts").execute();
    expect(await bench.server.db.selectFrom("alert_actions").select("id").execute()).toEqual([]);
  });

  test("mutes the same as each of them, with one mute for those that are alike", async () => {
    await raise(3);
    const { db } = bench.server;
    const { id: _, open_key: _key, ...row } = await db.selectFrom("alerts").selectAll().where("source", "=", "rogue").limit(1).executeTakeFirstOrThrow();
    await db.insertInto("alerts").values([{ ...row, id: createId(), open_key: null, status: "resolved" }, { ...row, id: createId(), open_key: "wide", subject: "10.0.*" }]).execute();
    const until = toInstant(bench.clock.now() + 3_600_000);
    const change = { muted_until: until, note: "maintenance" };
    const mute = (count: number, more = {}) => bench.post("/bulk", { filter: "source:rogue", expected_count: count, change: { ...change, ...more } });
    expect((await mute(5)).body).toEqual({ matched: 5, changed: 4, unchanged: 1, gone: 0 });
    const mutes = (await db.selectFrom("alert_mutes").selectAll().orderBy("subject").execute()).map(({ subject, reason, expires_at: end }) => [subject, reason, end]);
    expect(mutes).toEqual([row.subject, "server 1", "server 2"].toSorted().map((subject) => [subject, "maintenance", until]));
    const { data } = await bench.list("?source=rogue");
    expect([data.length, data.filter(({ muted }) => !muted).map(({ subject }) => subject)]).toEqual([5, ["10.0.*"]]);
    expect((await mute(5)).body).toMatchObject({ changed: 0, unchanged: 5 });
    expect((await mute(5, { muted_until: toInstant(bench.clock.now() + 7_200_000) })).body).toMatchObject({ changed: 4 });
    expect((await audited()).filter((action) => action === "alert_mute.create")).toHaveLength(6);
    for (const wrong of [{ muted_until: bench.now() }, { muted_until: "2028-01-01T00:00:00.000Z" }, { status: "resolved" }, { muted_until: undefined }]) {
      expect((await mute(5, wrong)).status).toBe(400);
    }
    // What is muted longer stays so, whoever mutes it for less.
    expect((await mute(5)).body).toMatchObject({ changed: 0, unchanged: 5 });
    await bench.post("/mutes", { source: "rogue", expires_at: until });
    await bench.clock.advance(3_600_001);
    expect((await bench.list("?source=rogue")).data.filter(({ muted }) => !muted).map(({ subject }) => subject)).toEqual(["10.0.*"]);
  });

  test("mutes all that are alike in one change, however many they are", async () => {
    await raise(120);
    await bench.server.db.updateTable("alerts").set({ subject: "server 0" }).where("source", "=", "rogue").execute();
    const mute = () => bench.post("/bulk", { filter: "source:rogue", expected_count: 120, change: { muted_until: toInstant(bench.clock.now() + 3_600_000) } });
    expect((await mute()).body).toEqual({ matched: 120, changed: 120, unchanged: 0, gone: 0 });
    const count = async (table: "alert_mutes" | "alert_actions") => (await bench.server.db.selectFrom(table).select("id").execute()).length;
    expect([await count("alert_mutes"), await count("alert_actions")]).toEqual([1, 120]);
    expect((await mute()).body).toEqual({ matched: 120, changed: 0, unchanged: 120, gone: 0 });
  });

  test("makes no more mutes than there may be, and none where there would be too many", async () => {
    await raise(1001);
    const mute = (filter: string, count: number) =>
      bench.post("/bulk", { filter, expected_count: count, change: { muted_until: toInstant(bench.clock.now() + 3_600_000) } });
    const answer = await mute("source:rogue", 1001);
    expect([answer.status, answer.error.code, await audited()]).toEqual([409, "CONFLICT", []]);
    const count = async () => (await bench.server.db.selectFrom("alert_mutes").select("id").execute()).length;
    expect(await count()).toBe(0);
    expect((await mute("source:ids", 1)).status).toBe(200);
    await bench.server.db.deleteFrom("alerts").where("subject", "in", ["server 1", "server 2", "server 3"]).execute();
    expect((await mute("source:rogue", 998)).body).toMatchObject({ changed: 998 });
    const posted = await Promise.all(["a", "b", "c"].map((subject) => bench.post("/mutes", { subject, expires_at: toInstant(bench.clock.now() + 3_600_000) })));
    expect([posted.filter(({ status }) => status === 201).length, posted.filter(({ status }) => status === 409).length, await count()]).toEqual([1, 2, 1000]);
  });

  test("is nobody else's, and needs the scope of a single change", async () => {
    await raise(1);
    const { data } = await bench.list();
    const other = await bench.server.createTenant("admin");
    const body = { ids: data.map(({ id }) => id), expected_count: 2, change: { status: "resolved" } };
    expect((await bench.post("/bulk", body, other)).error.details).toEqual({ count: 0, expected_count: 2 });
    const viewer = await bench.server.createUser(bench.tenant, "viewer");
    expect((await bench.post("/bulk", body, viewer)).error.details).toEqual({ required: "alerts:write" });
    expect((await bench.post("/bulk", { ...body, change: { status: "open" } })).status).toBe(400);
    expect(await total("status:open")).toBe(2);
  });
});
