import type { RestClient } from "@lanthorn/client";
import type { Site } from "@lanthorn/contract";
import { expect, test } from "vitest";
import type { Connection } from "../connection.ts";
import { createSite, setSite } from "./sites-edit.ts";

const SITE: Site = {
  id: "01939f6e-2a10-7c3e-8f00-000000000001", name: "Store 12", created_at: "2026-11-20T08:15:30.250Z", time_zone: null,
  sweep: { enabled: true, interval_seconds: 300, packets_per_second: 200 }, excluded: [], scan_networks: [], configuration_revision: 0,
};

test("a site is created with its time zone, and its name and zone are changed alone", async () => {
  const asked: unknown[] = [];
  const rest: Partial<RestClient> = {
    createSite: (site) => (asked.push(site), Promise.resolve({ ...SITE, time_zone: site.time_zone ?? null })),
    updateSite: (id, change) => (asked.push([id, change]), Promise.resolve(SITE)),
    listSites: () => Promise.resolve({ data: [SITE], meta: { page: 1, per_page: 1000, total: 1, next_cursor: null } }),
  };
  const connection = { rest } as unknown as Connection;
  expect((await createSite(connection, "Store 12", { timeZone: "Asia/Tokyo" })).table?.rows).toEqual([["Store 12", SITE.id, "Asia/Tokyo"]]);
  await createSite(connection, "Store 12", {});
  await setSite(connection, "Store 12", { timeZone: "none" });
  await setSite(connection, SITE.id, { name: "Store 13" });
  expect(asked).toEqual([
    { name: "Store 12", time_zone: "Asia/Tokyo" }, { name: "Store 12" }, [SITE.id, { time_zone: null }], [SITE.id, { name: "Store 13" }],
  ]);
  await expect(setSite(connection, "Store 12", {})).rejects.toMatchObject({ code: "bad-option" });
  await expect(setSite(connection, "Store 99", { name: "x" })).rejects.toMatchObject({ code: "not-found" });
});
