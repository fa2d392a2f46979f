import { AlertFacets } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertMany } from "../../db/query/write-many.ts";
import { type AlertsBench, createAlertsBench, ids, rogue } from "./testing/bench.ts";

let bench: AlertsBench;
beforeAll(async () => {
  bench = await createAlertsBench();
  await bench.append([rogue(), ids()]);
});
afterAll(() => bench.server.stop());

const facets = async (query = "", of = bench.tenant) => {
  const answer = await bench.server.get(`/api/v1/alerts/facets${query}`, of.token);
  expect([query, answer.status]).toEqual([query, 200]);
  return AlertFacets.parse(answer.body);
};
const total = async (query: string) => (await bench.list(query)).meta.total;

describe("the facets of alerts", () => {
  test("count each value of what the filter leaves, the most frequent first", async () => {
    expect(await facets()).toMatchObject({
      total: 2, status: [{ value: "open", count: 2 }], source: [{ value: "ids", count: 1 }, { value: "rogue", count: 1 }], site_id: [{ value: bench.tenant.siteId, count: 2 }],
    });
    expect(await facets("?filter=source:rogue")).toMatchObject({ total: 1, type: [{ value: "rogue_dhcp", count: 1 }] });
    expect(await facets("?status=resolved")).toEqual({ total: 0, severity: [], status: [], source: [], type: [], site_id: [], device_id: [] });
    expect(await facets("", await bench.server.createTenant("viewer"))).toMatchObject({ total: 0 });
    for (const [query, status] of [["?filter=severity:loud", 400], [`?site_id=${createId()}`, 404]] as const) {
      expect((await bench.server.get(`/api/v1/alerts/facets${query}`, bench.tenant.token)).status).toBe(status);
    }
  });

  test("of many are as exact as the list's total", async () => {
    const row = await bench.server.db.selectFrom("alerts").selectAll().where("source", "=", "rogue").executeTakeFirstOrThrow();
    await insertMany(bench.server.db, "alerts", Array.from({ length: 9500 }, (_, index) => ({
      ...row, id: createId(), open_key: null, status: index % 3 === 0 ? "acknowledged" : "resolved", site_id: index % 2 === 0 ? null : row.site_id, type: `type ${index % 60}`,
    })));
    const found = await facets("?source=rogue");
    expect([found.total, await total("?source=rogue&per_page=1"), found.type.length]).toEqual([9501, 9501, 50]);
    for (const { value, count } of found.status) expect(await total(`?source=rogue&per_page=1&status=${value}`)).toBe(count);
    expect(found.site_id).toEqual([{ value: row.site_id, count: 4751 }]);
  });
});
