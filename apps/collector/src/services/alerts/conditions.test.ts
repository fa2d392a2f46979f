import { createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { countQueries } from "../../testing/counted-queries.ts";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { createReadConditions } from "./conditions.ts";
import { createAlertsStore } from "./store.ts";

test("however many sites a filter names, they are looked up at once", async () => {
  const { createTenant, db, reads, clock } = await startGateway();
  const { tenantId, siteId } = await createTenant("viewer");
  const ids = Array.from({ length: 49 }, () => createId());
  await db.insertInto("sites").values(ids.map((id, index) => ({
    id, tenant_id: tenantId, name: `Store ${index}`, created_at: "2026-01-01T00:00:00.000Z", probe_configuration: "{}",
  }))).execute();
  const { handle, count } = countQueries(reads);
  const conditions = createReadConditions({ store: createAlertsStore({ db, reads: handle }), clock });
  const filter = await conditions(tenantId, { site_id: { any: [siteId, ...ids.slice(1)], none: ids.slice(0, 1) } });
  expect([filter.siteId?.any.length, count().queries]).toEqual([49, 1]);
  await expect(conditions(tenantId, { site_id: { any: [siteId, createId()], none: [] } })).rejects.toMatchObject({ code: "NOT_FOUND" });
});
