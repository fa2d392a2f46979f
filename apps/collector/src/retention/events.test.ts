import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestTenant } from "../testing/gateway.ts";
import { ROW_OVERHEAD_BYTES } from "../events/log.ts";
import { createRetention } from "./events.ts";

let gateway: TestGateway;
let tenant: TestTenant;
const clock = createFakeClock();
beforeEach(async () => {
  gateway = await startTestGateway({ clock });
  tenant = await gateway.createTenant();
});
afterEach(() => gateway.stop());

const kept = async () => (await gateway.reads.selectFrom("events").select("seq").where("tenant_id", "=", tenant.tenantId).orderBy("seq")
  .execute()).map(({ seq }) => seq);
const held = async () =>
  (await gateway.reads.selectFrom("tenants").select("event_bytes").where("id", "=", tenant.tenantId).executeTakeFirstOrThrow()).event_bytes;
const open = (options: Parameters<typeof createRetention>[1]) => createRetention({ db: gateway.db, clock, log: silentLog }, options);

test("events older than the age go, more of them than one transaction takes, and no sequence is given twice", async () => {
  await gateway.append(tenant, Array.from({ length: 1200 }, () => ({})));
  clock.jump(86_400_000);
  await gateway.append(tenant, [{}, {}]);
  clock.jump(86_400_000);
  const retention = open({ keepDays: 1.5, keepBytes: 1e9 });
  expect(await retention.run()).toBe(1200);
  expect(await kept()).toEqual([1201, 1202]);
  clock.jump(10 * 86_400_000);
  await retention.run();
  expect([await kept(), await held()]).toEqual([[], 0]);
  await gateway.append(tenant, [{}]);
  expect(await kept()).toEqual([1203]);
  await retention.close();
});

test("the oldest go until the size fits, tenant by tenant", async () => {
  const other = await gateway.createTenant();
  await gateway.append(other, [{}]);
  const data = { code: "x", message: "é".repeat(1000) };
  await gateway.append(tenant, Array.from({ length: 10 }, () => ({ data })));
  const each = JSON.stringify(data).length + ROW_OVERHEAD_BYTES;
  expect(await held()).toBe(10 * each);
  const retention = open({ keepDays: 1, keepBytes: each * 4 });
  expect(await retention.run()).toBe(6);
  expect([await kept(), await held()]).toEqual([[7, 8, 9, 10], 4 * each]);
  expect(await retention.run()).toBe(0);
  await retention.close();
});
