import { createFakeClock, createId, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { insertMany } from "../../db/query/write-many.ts";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { newDelivery } from "../reaction.ts";
import { createDeliverySweep } from "./sweep.ts";
import { createSweepStore } from "./sweep-store.ts";

async function start(options: { readonly keepDays?: number; readonly keepEach?: number } = {}) {
  const clock = createFakeClock();
  const server = await startGateway({ clock });
  const { tenantId } = await server.createTenant();
  const sweep = createDeliverySweep({ store: createSweepStore(server), clock, log: silentLog }, { keepDays: 14, keepEach: 100_000, ...options });
  const at = () => new Date(clock.now()).toISOString();
  const addWebhook = async () => {
    const id = createId();
    await server.db.insertInto("webhooks").values({
      id, tenant_id: tenantId, url: "", events: "[]", active: 1, status: "healthy", failing_since: null, secret_sealed: "", secret_hint: "",
      previous_secret_sealed: null,
      previous_secret_until: null, created_at: at(), last_delivery_at: null, worker_id: null,
    }).execute();
    return id;
  };
  const add = async (webhookId: string, count: number, isDone: boolean) => {
    const row = () => newDelivery(
      webhookId, { id: createId(), tenant_id: tenantId, event: "device.offline", seq: 1 }, { lane: "live", at: at() },
    );
    const rows = Array.from({ length: count }, () => ({ ...row(), ...(isDone && { lane: null, status: "delivered" }) }));
    await server.db.transaction().execute((trx) => insertMany(trx, "webhook_deliveries", rows));
  };
  const left = async (webhookId: string) => {
    const rows = await server.db.selectFrom("webhook_deliveries").select("status").where("webhook_id", "=", webhookId).orderBy("id")
      .execute();
    return rows.map(({ status }) => status);
  };
  return { clock, server, sweep, addWebhook, add, left };
}

test("deliveries that are done go when they are old; those that wait do not", async () => {
  const { clock, sweep, addWebhook, add, left } = await start();
  const [one, two] = [await addWebhook(), await addWebhook()];
  await add(one, 1, false);
  await add(one, 1100, true);
  await add(two, 3, true);
  clock.jump(13 * 86_400_000);
  await add(one, 2, true);
  clock.jump(2 * 86_400_000);
  expect(await sweep.run()).toBe(1103);
  expect([await left(one), await left(two)]).toEqual([["pending", "delivered", "delivered"], []]);
  await sweep.close();
});

test("deliveries of a deleted webhook go, whatever they are", async () => {
  const { server, sweep, addWebhook, add, left } = await start();
  const [gone, kept] = [await addWebhook(), await addWebhook()];
  for (const id of [gone, kept]) {
    await add(id, 600, false);
    await add(id, 2, true);
  }
  await server.db.deleteFrom("webhooks").where("id", "=", gone).execute();
  expect(await sweep.run()).toBe(602);
  expect([(await left(gone)).length, (await left(kept)).length]).toEqual([0, 602]);
  await sweep.close();
});

test("of one webhook the newest are kept; what waits beyond them has failed, and says why", async () => {
  const { server, sweep, addWebhook, add, left } = await start({ keepEach: 4 });
  const id = await addWebhook();
  await add(id, 2, true);
  await add(id, 2, false);
  await add(id, 3, true);
  expect(await sweep.run()).toBe(2);
  expect(await left(id)).toEqual(["failed", "pending", "delivered", "delivered", "delivered"]);
  expect(await server.db.selectFrom("webhook_deliveries").select("error").where("status", "=", "failed").executeTakeFirst()).toEqual({
    error: "overflow: too many deliveries wait for this webhook",
  });
  expect([await sweep.run(), (await left(id)).length]).toEqual([1, 4]);
  await sweep.close();
});
