import { createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { watchPlans } from "../../testing/query-plans.ts";
import { type AlertFilter, createAlertsStore } from "./store.ts";

const only = (value: string) => ({ any: [value], none: [] });

test("alerts are counted by ranges of their ids, whatever else narrows them", async () => {
  const { db, reads: handle } = await startGateway();
  const { reads, last } = watchPlans(handle);
  const store = createAlertsStore({ db, reads });
  const filters: readonly AlertFilter[] = [
    {}, { siteId: only(createId()) }, { type: only("rogue_dhcp") }, { status: only("open") }, { deviceId: only(createId()) }, { since: "2026-01-01T00:00:00.000Z" }, { search: "server" },
  ];
  for (const filter of filters) {
    await store.countFacets(createId(), filter);
    expect(await last()).toContain("SEARCH alerts USING INDEX alerts_tenant (tenant_id=? AND id>?)");
  }
});
