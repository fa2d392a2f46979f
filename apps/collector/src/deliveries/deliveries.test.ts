import { createHmac } from "node:crypto";
import { EVENTS, type EventType, WEBHOOK_EVENTS, WebhookPayload } from "@lanthorn/contract";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createEventLog, type NewEvent } from "../events/log.ts";
import { createReactions } from "../events/reaction.ts";
import { REACTION_ORDER, REACTIONS } from "../reactions.ts";
import { SAMPLE_EVENTS } from "../services/diplomat/sample-events.ts";
import { deliveriesOf, eventually, OFFLINE, startAndClose } from "../services/diplomat/testing/stack.ts";
import { MAX_CALLS } from "./call-limit.ts";
import { createDeliveryReaction } from "./reaction.ts";

const { start, receive } = startAndClose();

describe("a delivery", () => {
  test("brings an event's own bytes, signed, with its id and origin", async () => {
    const [stack, receiver] = [await start(), await receive()];
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: `${receiver.url}/in?key=1`, secret: "a secret of mine, 24 bytes" });
    await stack.append(tenant, [OFFLINE, { type: "host_online" }]);
    const [got] = await receiver.got(1);
    if (!got) throw new Error("nothing");
    expect([got.path, got.headers["content-type"], got.headers["user-agent"], got.headers.host]).toEqual([
      "/in?key=1", "application/json", "Lanthorn/test", `127.0.0.1:${receiver.port}`,
    ]);
    const payload = WebhookPayload.parse(got.payload);
    const event = await stack.db.selectFrom("events").selectAll().where("type", "=", "host_offline").executeTakeFirstOrThrow();
    expect(payload).toEqual({
      id: event.id, event: "device.offline", timestamp: event.occurred_at, tenant_id: tenant.tenantId,
      data: { ...OFFLINE.data, site_id: tenant.siteId, probe_id: null, device_id: null },
    });
    expect(got.headers["x-service-signature"]).toBe(`sha256=${createHmac("sha256", "a secret of mine, 24 bytes").update(got.body).digest("hex")}`);
    expect(got.headers["webhook-id"]).toBe(event.id);
    const delivery = await eventually("kept", async () => (await deliveriesOf(stack, tenant, id, "?status=delivered")).data[0]);
    expect(delivery).toMatchObject({
      event_id: event.id, event: "device.offline", attempt: 1, status: "delivered", status_code: 204, error: null, next_attempt_at: null,
    });
    expect(receiver.received.length).toBe(1);
  });

  test("is tried at once and then 30 seconds, 2 minutes, 10 minutes and an hour after the attempt before", async () => {
    const clock = createFakeClock();
    const [stack, receiver] = [await start({ clock }), await receive({ now: clock.now })];
    receiver.answer = (response) => void response.writeHead(500).end("not now");
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url });
    await stack.append(tenant, [OFFLINE]);
    const startedAt = clock.now();
    for (const [made, dueAt] of [[1, 30_000], [2, 150_000], [3, 750_000], [4, 4_350_000]] as const) {
      await receiver.got(made);
      await eventually("kept", async () => (await deliveriesOf(stack, tenant, id)).data[0]?.attempt === made);
      await clock.leap(startedAt + dueAt - 1000 - clock.now());
      expect(receiver.received.length).toBe(made);
      await clock.advance(1000);
    }
    expect((await receiver.got(5)).map(({ at }) => at - startedAt)).toEqual([0, 30_000, 150_000, 750_000, 4_350_000]);
    const done = await eventually("failed", async () => (await deliveriesOf(stack, tenant, id, "?status=failed")).data[0]);
    expect(done.attempts.map(({ attempt, status_code, response_excerpt, error }) => [attempt, status_code, response_excerpt, error]))
      .toEqual([1, 2, 3, 4, 5].map((attempt) => [attempt, 500, "not now", "status: 500"]));
    await clock.leap(2 * 3_600_000);
    await clock.advance(10_000);
    expect(receiver.received.length).toBe(5);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect((await stack.call(tenant, "GET", `/${id}`)).body).toMatchObject({ active: true, status: "failing" });
  });
});

describe("several webhooks", () => {
  test("get what they are subscribed to, each in the order of events, and a retry holds up none", async () => {
    const [stack, one, two] = [await start(), await receive(), await receive()];
    const tenant = await stack.createTenant();
    await stack.addWebhook(tenant, { url: one.url, events: ["device.offline"] });
    await stack.addWebhook(tenant, { url: two.url, events: ["device.offline", "scan.failed"] });
    let refused = 0;
    two.answer = (response, _, { payload }) => {
      const refuse = payload.data["missed_checks"] === 7 && refused++ === 0;
      response.writeHead(refuse ? 500 : 200).end();
    };
    const other = await stack.createTenant();
    await stack.append(other, [OFFLINE]);
    for (let batch = 0; batch < 10; batch += 1) {
      await stack.append(
        tenant, Array.from({ length: 5 }, (_, index) => ({ ...OFFLINE, data: { ...OFFLINE.data, missed_checks: 3 + batch * 5 + index } })),
      );
    }
    await stack.append(
      tenant, [{ type: "scan_failed", data: { scan_id: tenant.siteId, target: "192.0.2.0/24", profile: "quick", reason: "no" } }],
    );
    await Promise.all([one.got(50), two.got(51)]);
    const order = Array.from({ length: 50 }, (_, index) => 3 + index);
    expect(one.received.map(({ payload }) => payload.data["missed_checks"])).toEqual(order);
    expect(two.received.map(({ payload }) => payload.data["missed_checks"] ?? payload.event)).toEqual([...order, "scan.failed"]);
  });

  test("are not delayed by those that hang, reset or are not there", async () => {
    const [stack, good] = [await start(), await receive()];
    const tenant = await stack.createTenant();
    for (let count = 0; count < 20; count += 1) {
      const bad = await receive();
      bad.answer = count % 2 === 0 ? () => {} : (response) => void response.socket?.destroy();
      await stack.addWebhook(tenant, { url: bad.url });
    }
    await stack.addWebhook(tenant, { url: good.url });
    const delays: number[] = [];
    for (let count = 1; count <= 50; count += 1) {
      const startedAt = performance.now();
      await stack.append(tenant, [OFFLINE]);
      await good.got(count);
      delays.push(performance.now() - startedAt);
    }
    // Who hangs is given up after ten seconds, ten at a time or one after the other; how quick it is `bench -- webhooks` says.
    expect(delays.toSorted((a, b) => a - b).at(-3)).toBeLessThan(8000);
  });

  test("that do not answer are not called for each new event any more, until they answer", async () => {
    const clock = createFakeClock();
    const [stack, receiver] = [await start({ clock }), await receive()];
    receiver.answer = (response) => void response.socket?.destroy();
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url });
    await stack.append(tenant, Array.from({ length: 30 }, () => OFFLINE));
    const tried = async () => (await deliveriesOf(stack, tenant, id)).data.filter(({ attempt }) => attempt > 0);
    await eventually("five kept", async () => (await tried()).length === 5);
    await clock.advance(5000);
    expect(receiver.received.length).toBe(5);
    receiver.answer = (response) => void response.writeHead(204).end();
    await clock.advance(26_000);
    await eventually("all delivered", async () => (await deliveriesOf(stack, tenant, id, "?status=delivered")).data.length === 30);
  });
});

describe("a clock that is set", () => {
  test.each([["forward", 7 * 86_400_000], ["back", -7 * 86_400_000]])("%s neither hurries a retry nor holds it up", async (_, jumpMs) => {
    const clock = createFakeClock();
    const [stack, receiver] = [await start({ clock }), await receive()];
    receiver.answer = (response) => void response.writeHead(500).end();
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url });
    await stack.append(tenant, [OFFLINE]);
    const kept = () => stack.db.selectFrom("webhook_deliveries").select("attempt").where("webhook_id", "=", id).executeTakeFirst();
    await eventually("kept", async () => (await kept())?.attempt === 1);
    await clock.advance(1000);
    clock.jump(jumpMs);
    await clock.advance(28_000);
    expect(receiver.received.length).toBe(1);
    await clock.advance(2000);
    await receiver.got(2);
  });

  test("back while the collector was off holds up no retry for longer than its wait", async () => {
    const clock = createFakeClock();
    const [stack, receiver] = [await start({ clock }), await receive()];
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url });
    await stack.append(tenant, [OFFLINE]);
    await receiver.got(1);
    const later = (ms: number) => new Date(clock.now() + 86_400_000 + ms).toISOString();
    await eventually("delivered", async () => (await deliveriesOf(stack, tenant, id, "?status=delivered")).data.length === 1);
    await stack.db.updateTable("webhook_deliveries")
      .set({ lane: "retry", status: "pending", attempt: 1, requested_at: later(0), retry_at: later(30_000) }).execute();
    await stack.db.updateTable("webhooks").set({ worker_id: null }).execute();
    await stack.append(tenant, [OFFLINE]);
    await receiver.got(2);
    await clock.advance(31_000);
    await receiver.got(3);
  });
});

test("an event that the log no longer has is reported as such and counts against no endpoint", async () => {
  const [stack, receiver] = [await start(), await receive()];
  const tenant = await stack.createTenant();
  const id = await stack.addWebhook(tenant, { url: receiver.url });
  await stack.db.updateTable("webhooks").set({ worker_id: "another" }).execute();
  await stack.append(tenant, [OFFLINE]);
  await stack.db.deleteFrom("events").execute();
  await stack.db.updateTable("webhooks").set({ worker_id: null }).execute();
  const [failed] = await eventually("failed", async () => {
    const found = (await deliveriesOf(stack, tenant, id, "?status=failed")).data;
    return found.length > 0 && found;
  });
  expect([failed?.error, receiver.received.length]).toEqual(["forgotten: the event log no longer has the event", 0]);
});

describe("every webhook event", () => {
  const all = [...WEBHOOK_EVENTS];

  test.each(Object.entries(EVENTS).flatMap(([type, { webhook }]) => (webhook === null ? [] : [[webhook, type as EventType] as const])))(
    "%s is sent when %s is in the log, with data of its own schema", async (event, type) => {
      const [stack, receiver] = [await start(), await receive()];
      const tenant = await stack.createTenant();
      await stack.addWebhook(tenant, { url: receiver.url, events: all });
      await stack.append(tenant, [{ type, data: SAMPLE_EVENTS[event] }]);
      const got = await receiver.got(1);
      expect(got.map(({ payload }) => [payload.event, EVENTS[type].data.safeParse(payload.data).success])).toEqual([[event, true]]);
    },
  );

  test("has an event that becomes it", () => {
    expect(new Set(Object.values(EVENTS).flatMap(({ webhook }) => webhook ?? []))).toEqual(new Set(all));
  });

  test("that would call somebody is not sent for what an outage kept back; a replay has it", async () => {
    const [stack, receiver] = [await start(), await receive()];
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url, events: all });
    const facts = Object.entries(EVENTS).flatMap(([type, { webhook }]) =>
      (webhook === null || webhook.startsWith("alert.") ? [] : [{ type: type as EventType, data: SAMPLE_EVENTS[webhook], isLate: true }]));
    await stack.append(tenant, facts);
    await stack.append(tenant, [OFFLINE]);
    const kept = ["scan.started", "scan.completed", "scan.failed", "device.discovered", "cve.matched", "backup.completed", "backup.failed"];
    await receiver.got(kept.length + 1);
    const live = receiver.received.map(({ payload }) => payload.event);
    expect(new Set(live)).toEqual(new Set([...kept, "device.offline"]));
    expect(live.length).toBe(kept.length + 1);
    await stack.call(tenant, "POST", `/${id}/replay`, { since: "1h" });
    await receiver.got(live.length + facts.length + 1);
    expect(new Set(receiver.received.slice(live.length).map(({ payload }) => payload.event)))
      .toEqual(new Set(all.filter((event) => !event.startsWith("alert."))));
  });
});

test("nothing is enqueued for a webhook that was deleted or changed before", async () => {
  const [stack, receiver] = [await start(), await receive()];
  const tenant = await stack.createTenant();
  const [gone, other] = [await stack.addWebhook(tenant, { url: receiver.url }), await stack.addWebhook(tenant, { url: receiver.url })];
  await stack.append(tenant, [OFFLINE]);
  await receiver.got(2);
  await stack.call(tenant, "DELETE", `/${gone}`);
  await stack.call(tenant, "PUT", `/${other}`, { events: ["scan.failed"] });
  await stack.append(tenant, [OFFLINE]);
  await stack.append(tenant, [{ type: "scan_failed", data: {} }]);
  await receiver.got(3);
  expect(receiver.received[2]?.payload.event).toBe("scan.failed");
  expect((await stack.db.selectFrom("webhook_deliveries").select("event").execute()).length).toBe(3);
});

test("what one probe reports calls webhooks a thousand times within ten minutes, each type for itself, and another probe's too", async () => {
  const [stack, receiver] = [await start(), await receive()];
  const tenant = await stack.createTenant();
  await stack.addWebhook(tenant, { url: receiver.url, events: ["rogue.detected", "ids.alert"] });
  const log = createEventLog({ reads: stack.reads, reactions: createReactions(REACTIONS, REACTION_ORDER, { deliveries: createDeliveryReaction() }) });
  const report = async (type: EventType, count: number, origin: { readonly probeId: string; readonly minute: number }) => {
    const at = new Date(stack.clock.now() + origin.minute * 60_000).toISOString();
    const event: NewEvent = {
      type, siteId: null, probeId: origin.probeId, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at, data: {},
    };
    await stack.db.transaction().execute((trx) => log.append(trx, tenant.tenantId, Array.from({ length: count }, () => event)));
    return (await stack.db.selectFrom("webhook_deliveries").select((eb) => eb.fn.countAll<number>().as("n")).executeTakeFirstOrThrow()).n;
  };
  const [one, two] = [createId(), createId()];
  expect(await report("rogue_detected", 700, { probeId: one, minute: 0 })).toBe(700);
  expect(await report("rogue_detected", 700, { probeId: one, minute: 9 })).toBe(MAX_CALLS);
  expect(await report("ids_alert", 1, { probeId: one, minute: 9 })).toBe(MAX_CALLS + 1);
  expect(await report("rogue_detected", 1, { probeId: two, minute: 9 })).toBe(MAX_CALLS + 2);
  expect(await report("rogue_detected", 1, { probeId: one, minute: 10 })).toBe(MAX_CALLS + 3);
});

test("nothing is enqueued by a transaction that is undone", async () => {
  const [stack, receiver] = [await start(), await receive()];
  const tenant = await stack.createTenant();
  await stack.addWebhook(tenant, { url: receiver.url });
  const deliveries = createDeliveryReaction();
  const log = createEventLog({ reads: stack.reads, reactions: createReactions(REACTIONS, REACTION_ORDER, { deliveries }) });
  const at = new Date(stack.clock.now()).toISOString();
  const event: NewEvent = {
    ...OFFLINE, siteId: null, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at,
  };
  await expect(stack.db.transaction().execute(async (trx) => {
    await log.append(trx, tenant.tenantId, [event]);
    throw new Error("no");
  })).rejects.toThrow("no");
  expect(deliveries.takeEnqueued(tenant.tenantId).length).toBe(1);
  await stack.append(tenant, [OFFLINE]);
  await receiver.got(1);
  expect((await stack.db.selectFrom("webhook_deliveries").select("event").execute()).length).toBe(1);
});

test("a stop lets what is answered in time be kept, gives the rest back as it was, and leaves no claim", async () => {
  const [stack, quick, mute] = [await start(), await receive(), await receive()];
  const tenant = await stack.createTenant();
  quick.answer = (response) => void setTimeout(() => response.writeHead(204).end(), 300);
  mute.answer = () => {};
  const [kept, left] = [await stack.addWebhook(tenant, { url: quick.url }), await stack.addWebhook(tenant, { url: mute.url })];
  await stack.append(tenant, [OFFLINE, OFFLINE]);
  await Promise.all([quick.got(1), mute.got(1)]);
  await stack.diplomat.close();
  expect((await deliveriesOf(stack, tenant, kept)).data.map(({ status }) => status)).toEqual(["pending", "delivered"]);
  expect((await deliveriesOf(stack, tenant, left)).data.map(({ status, attempt }) => [status, attempt])).toEqual([
    ["pending", 0], ["pending", 0],
  ]);
  expect(await stack.db.selectFrom("delivery_workers").selectAll().execute()).toEqual([]);
  expect(await stack.db.selectFrom("webhooks").select("id").where("worker_id", "is not", null).execute()).toEqual([]);
});
