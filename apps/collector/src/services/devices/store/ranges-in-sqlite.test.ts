import { createId } from "@lanthorn/runtime";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { type AddressRange, parseNetwork } from "../../../db/keys/address-range.ts";
import { startGateway } from "../../../testing/gateway-for-test.ts";
import { watchPlans } from "../../../testing/query-plans.ts";
import type { DeviceFilter } from "./filters.ts";
import { createMatches } from "./matches.ts";

const only = <T>(value: T) => ({ any: [value], none: [] });

test("devices among some ids are found by these ids, whatever else narrows them", async () => {
  const { reads, last } = watchPlans((await startGateway()).reads);
  const matches = createMatches(reads);
  const filters: readonly DeviceFilter[] = [
    {}, { siteId: only(createId()) }, { deviceType: only("printer"), presenceState: only("online"), isOnline: true }, { vendor: only("Cisco") }, { tag: only("core") },
    { subnet: only(parseNetwork("10.0.0.0/8") as AddressRange) }, { since: "2026-01-01T00:00:00.000Z" }, { search: "ab" },
  ];
  for (const filter of filters) {
    await matches.among(await matches.wanted(createId(), filter), { after: createId(), upTo: createId() }).select("os_guess").execute();
    expect(await last()).toMatch(/^SEARCH devices USING INDEX sqlite_autoindex_devices_1 \(id>\? AND id<\?\)/);
  }
  await matches.among(await matches.wanted(createId(), { openPort: only(22) }), { after: createId(), upTo: createId() }).select("os_guess").execute();
  expect(await last()).toContain("ports_open (tenant_id=? AND port=? AND device_id>? AND device_id<?)");
  const affected = sql`select ss.device_id from service_software ss where ss.until is null and ss.tenant_id = ${createId()} and ss.software_id in ('a', 'b')`;
  await matches.among(await matches.wanted(createId(), { cve: only(affected) }), { after: createId(), upTo: createId() }).select("os_guess").execute();
  expect(await last()).toContain("service_software_current (tenant_id=? AND software_id=? AND device_id>? AND device_id<?)");
});
