import { createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { countQueries } from "../../testing/counted-queries.ts";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { countAtSites } from "./summary-store.ts";
import { siteSummaries } from "./summaries.ts";

test("the summary of a site reads no rows of other sites", async () => {
  const { createTenant, db, reads } = await startGateway();
  const { tenantId, siteId } = await createTenant("viewer");
  const at = "2026-01-01T00:00:00.000Z";
  const sites = Array.from({ length: 20 }, (_, index) => ({
    id: createId(), tenant_id: tenantId, name: `Store ${index}`, created_at: at, probe_configuration: "{}", scan_networks: "[]", configuration_revision: 0,
  }));
  await db.insertInto("sites").values(sites).execute();
  await db.insertInto("alerts").values([siteId, ...sites.map(({ id }) => id)].map((id) => ({
    id: createId(), tenant_id: tenantId, site_id: id, source: "rogue", type: "rogue_dhcp", subject: "x", title: "x", description: "", first_seen: at, last_seen: at,
    severity: "high", severity_rank: 4, status: "open", count: 1, evidence: "[]", mitre_techniques: "[]", device_ip: "", notified: 0,
  }))).execute();
  const { handle, count } = countQueries(reads);
  expect(await countAtSites(handle, tenantId, [siteId])).toEqual([{ site_id: siteId, kind: "alerts", value: "high", total: 1 }]);
  expect(count().rows).toBe(1);
});

test("summaries of very many sites look at each count once", async () => {
  const sites = Array.from({ length: 1000 }, (_, index) => ({ id: `site ${index}`, name: `Store ${index}` }));
  let looks = 0;
  const counts = sites.map(({ id }) => ({
    kind: "devices", value: "1", total: 2,
    get site_id() {
      looks += 1;
      return id;
    },
  } as const));
  const store = {
    list: () => Promise.resolve(sites), count: () => Promise.resolve(sites.length), byId: () => Promise.resolve(null), counts: () => Promise.resolve(counts),
  };
  const { data } = await siteSummaries(store as unknown as Parameters<typeof siteSummaries>[0]).summaries("tenant", { page: 1, per_page: 1000 });
  expect([data.length, data.at(-1)?.devices]).toEqual([1000, { total: 2, online: 2 }]);
  expect(looks).toBe(1000);
});
