import { createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { watchPlans } from "../../testing/query-plans.ts";
import { createChangesStore } from "./changes-store.ts";

test("what changed is found by an index from the moment on, and nothing before it is read", async () => {
  const { reads, last } = watchPlans((await startGateway()).reads);
  const store = createChangesStore({ reads });
  const plans: string[] = [];
  const asks = [...(["devices", "alerts", "resolved", "logged"] as const).map((kind) => [kind, undefined] as const), ...(["devices", "alerts", "resolved"] as const).map((kind) => [kind, createId()] as const)];
  for (const [kind, siteId] of asks) {
    await store[kind]({ tenantId: createId(), siteId, since: "2026-11-20T15:37:57.123Z" }, () => {});
    plans.push(await last());
  }
  expect(plans).toEqual([
    "SEARCH devices USING COVERING INDEX devices_first_seen (tenant_id=? AND (first_seen,id)>(?,?))",
    "SEARCH alerts USING COVERING INDEX alerts_first_seen (tenant_id=? AND (first_seen,id)>(?,?))",
    "SEARCH alerts USING COVERING INDEX alerts_ended (tenant_id=? AND (resolved_at,id)>(?,?))",
    "SEARCH events USING INDEX events_changes (tenant_id=? AND seq>?)",
    "SEARCH devices USING COVERING INDEX devices_first_seen_at_site (site_id=? AND (first_seen,id)>(?,?))",
    "SEARCH alerts USING COVERING INDEX alerts_first_seen_at_site (site_id=? AND (first_seen,id)>(?,?))",
    "SEARCH alerts USING COVERING INDEX alerts_ended_at_site (site_id=? AND (resolved_at,id)>(?,?))",
  ]);
});
