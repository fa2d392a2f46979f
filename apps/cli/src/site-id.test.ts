import type { RestClient } from "@lanthorn/client";
import { expect, test } from "vitest";
import { siteFilter } from "./site-id.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const SITE = {
  id: ID, name: "Store 12", created_at: "2026-11-20T08:15:30.250Z", time_zone: null, sweep: { enabled: true, interval_seconds: 300, packets_per_second: 200 },
  excluded: [], scan_networks: [], configuration_revision: 0,
};
const one: Pick<RestClient, "listSites"> = {
  listSites: () => Promise.resolve({ data: [SITE], meta: { page: 1, per_page: 1000, total: 1, next_cursor: null } }),
};
const refused: Pick<RestClient, "listSites"> = { listSites: () => Promise.reject(new Error("this key lists no sites")) };

test("a list is of all sites, of one by its name, or of one by its id, which needs no list of sites", async () => {
  expect(await siteFilter(refused, undefined)).toEqual({});
  expect(await siteFilter(one, "Store 12")).toEqual({ site_id: ID });
  expect(await siteFilter(refused, ID)).toEqual({ site_id: ID });
  await expect(siteFilter(one, "Store 13")).rejects.toMatchObject({ code: "not-found" });
});
