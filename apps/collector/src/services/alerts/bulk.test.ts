import { BulkResult } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
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
