import {
  EVENTS, type EventType, listEnvelope, Webhook, WEBHOOK_EVENTS, WebhookDelivery, WebhookPayload, WebhookWithSecret,
} from "@lanthorn/contract";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { SAMPLE_EVENTS } from "./sample-events.ts";
import { deliveriesOf, eventually, OFFLINE, startAndClose } from "./testing/stack.ts";

const { start, receive } = startAndClose();
const URL_HERE = "https://hooks.example.com/in";

describe("a webhook", () => {
  test("is made, read, listed, changed and deleted, and each write is audited", async () => {
    const clock = createFakeClock();
    const stack = await start({ clock });
    const tenant = await stack.createTenant("admin");
    const made = await stack.call(tenant, "POST", "", { url: URL_HERE, secret: "my own secret of 24 bytes", events: ["alert.created"] });
    const webhook = Webhook.strict().parse(made.body);
    expect([made.status, made.headers.get("location")]).toEqual([201, `/api/v1/integrations/webhooks/${webhook.id}`]);
    expect(webhook).toEqual({
      id: webhook.id, url: URL_HERE, events: ["alert.created"], active: true, status: "healthy", created_at: "2026-01-01T00:00:00.000Z",
      last_delivery_at: null,
      secret_hint: "…ytes", previous_secret_until: null,
    });
    const changed = await stack.call(tenant, "PUT", `/${webhook.id}`, { events: ["scan.failed", "ids.alert"], active: false });
    expect([changed.status, changed.body]).toEqual([200, { ...webhook, events: ["scan.failed", "ids.alert"], active: false }]);
    expect((await stack.call(tenant, "GET", `/${webhook.id}`)).body).toEqual(changed.body);
    expect(listEnvelope(Webhook).parse((await stack.call(tenant, "GET", "")).body).data).toEqual([changed.body]);
    const gone = await stack.call(tenant, "DELETE", `/${webhook.id}`);
    expect([gone.status, gone.body]).toEqual([204, null]);
    expect((await stack.call(tenant, "GET", `/${webhook.id}`)).error.code).toBe("NOT_FOUND");
    const audit = await stack.get("/api/v1/audit", tenant.token);
    expect((audit.body as { data: { action: string; target: { id: string } }[] }).data.map(({ action, target }) => [action, target.id]))
      .toEqual(["webhook.delete", "webhook.update", "webhook.create"].map((action) => [action, webhook.id]));
    expect(JSON.stringify(audit.body)).not.toContain("my own secret");
  });

  test("without a secret gets one that is shown once, and is kept sealed", async () => {
    const stack = await start();
    const tenant = await stack.createTenant();
    const { id, secret, secret_hint: hint } = WebhookWithSecret.parse(
      (await stack.call(tenant, "POST", "", { url: URL_HERE, events: ["alert.created"] })).body,
    );
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(hint).toBe(`…${secret?.slice(-4)}`);
    for (const path of ["", `/${id}`]) expect(JSON.stringify((await stack.call(tenant, "GET", path)).body)).not.toContain(secret);
    expect(JSON.stringify(await stack.db.selectFrom("webhooks").selectAll().execute())).not.toContain(secret?.slice(6));
  });

  test("that rotates its secret signs with both for 24 hours", async () => {
    const clock = createFakeClock();
    const [stack, receiver] = [await start({ clock }), await receive()];
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url, secret: "the first secret, 24 bytes" });
    const rotated = WebhookWithSecret.parse((await stack.call(tenant, "PUT", `/${id}`, { rotate_secret: true })).body);
    expect([rotated.secret?.slice(0, 6), rotated.previous_secret_until]).toEqual(["whsec_", "2026-01-02T00:00:00.000Z"]);
    expect((await stack.call(tenant, "PUT", `/${id}`, { active: true })).body).not.toHaveProperty("secret");
    await stack.call(tenant, "POST", `/${id}/test`);
    expect(receiver.received[0]?.headers["webhook-signature"]?.toString().split(" ").length).toBe(2);
    expect(receiver.received[0]?.headers["x-service-signature-previous"]).toMatch(/^sha256=[0-9a-f]{64}$/);
    clock.jump(86_400_000);
    const { token } = tenant;
    expect(token).not.toBe("");
    await stack.append(tenant, [OFFLINE]);
    const [, later] = await receiver.got(2);
    expect(later?.headers["webhook-signature"]?.toString().split(" ").length).toBe(1);
    expect(later?.headers).not.toHaveProperty("x-service-signature-previous");
  });

  test.each([
    ["an address of this machine", { url: "https://127.0.0.2/" }], ["a private address", { url: "https://10.0.0.1/" }],
    ["http", { url: "http://hooks.example.com/" }],
    ["a name that leads inside", { url: "https://inside.example.com/" }],
    ["a name that leads inside and outside", { url: "https://both.example.com/" }],
    ["a user name", { url: "https://u@hooks.example.com/" }], ["no URL", { url: "hooks" }],
    ["a URL that is too long", { url: `https://hooks.example.com/${"x".repeat(2048)}` }],
    ["no events", { events: [] }], ["an unknown event", { events: ["host_found"] }],
    ["every event and one of them", { events: ["*", "ids.alert"] }], ["an event twice", { events: ["ids.alert", "ids.alert"] }],
    ["a short secret", { secret: "x".repeat(23) }], ["a short key in Base64", { secret: `whsec_${"A".repeat(30)}` }], ["a long secret", { secret: "x".repeat(256) }], ["an unknown field", { color: "red" }],
    ["a wrong type", { active: "yes" }],
  ])("with %s is refused with the path of the fault", async (_, fault) => {
    const stack = await start({
      resolve: (host) => (
        host === "inside.example.com" ? Promise.resolve(["169.254.169.254"]) : Promise
          .resolve(["93.184.216.34", ...(host.startsWith("both") ? ["::1"] : [])])
      ),
    });
    const tenant = await stack.createTenant();
    const good = { url: URL_HERE, events: ["alert.created"], secret: "a good secret of 24 bytes" };
    const id = await stack.addWebhook(tenant, good);
    for (const [method, path, body] of [["POST", "", { ...good, ...fault }], ["PUT", `/${id}`, fault]] as const) {
      const answer = await stack.call(tenant, method, path, body);
      expect([answer.status, answer.error.code]).toEqual([400, "BAD_REQUEST"]);
      expect((answer.error.details as { path: string }[])[0]?.path).toMatch(new RegExp(`^(${Object.keys(fault)[0]}.*)?$`));
    }
  });

  test("for every event gets each, one of a later version too", async () => {
    const stack = await start();
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: "https://hooks.example.com/in", events: ["*"] });
    expect((await stack.call(tenant, "GET", `/${id}`)).body).toMatchObject({ events: ["*"] });
    await stack.append(tenant, [OFFLINE, { type: "scan_progress", data: {} }, { type: "backup_failed", data: SAMPLE_EVENTS["backup.failed"] }]);
    const { data } = await deliveriesOf(stack, tenant, id);
    expect(data.map(({ event }) => event)).toEqual(["backup.failed", "device.offline"]);
  });

  test("is found by its URL, an event that it takes, its state and whether it is active", async () => {
    const stack = await start();
    const tenant = await stack.createTenant();
    const add = (path: string, events: readonly string[]) => stack.addWebhook(tenant, { url: `https://hooks.example.com/${path}`, events });
    const [one, all, off] = [await add("Pager", ["alert.created"]), await add("lake", ["*"]), await add("pa_ger", ["ids.alert"])];
    await stack.call(tenant, "PUT", `/${off}`, { active: false });
    const found = async (query: string) =>
      listEnvelope(Webhook).parse((await stack.call(tenant, "GET", `?${query}`)).body).data.map(({ id }) => id);
    expect(await found("search=pager")).toEqual([one]);
    expect(await found("search=a_g")).toEqual([off]);
    expect(await found("event=alert.created")).toEqual([one, all]);
    expect(await found("event=ids.alert&active=true")).toEqual([all]);
    expect(await found("active=false")).toEqual([off]);
    expect(await found("status=failing")).toEqual([]);
    expect((await stack.call(tenant, "GET", "?event=*")).status).toBe(400);
  });

  test("is one of a hundred at most", async () => {
    const stack = await start();
    const tenant = await stack.createTenant();
    for (let count = 0; count < 100; count += 1) await stack.addWebhook(tenant, { url: URL_HERE, secret: "a good secret of 24 bytes" });
    const answer = await stack.call(tenant, "POST", "", { url: URL_HERE, events: ["alert.created"] });
    expect([answer.status, answer.error.code, answer.error.details]).toEqual([409, "CONFLICT", { limit: 100 }]);
    const other = await stack.createTenant();
    await stack.addWebhook(other, { url: URL_HERE });
    const first = listEnvelope(Webhook).parse((await stack.call(tenant, "GET", "?per_page=60")).body);
    const second = listEnvelope(Webhook).parse((await stack.call(tenant, "GET", `?per_page=60&cursor=${first.meta.next_cursor}`)).body);
    const ids = new Set([...first.data, ...second.data].map(({ id }) => id));
    expect([first.meta.total, second.data.length, second.meta.next_cursor, ids.size]).toEqual([100, 40, null, 100]);
  });

  test("belongs to its tenant alone", async () => {
    const stack = await start();
    const [mine, theirs] = [await stack.createTenant("admin"), await stack.createTenant("admin")];
    const id = await stack.addWebhook(mine, { url: URL_HERE });
    const delivery = createId();
    const calls = [
      ["GET", `/${id}`], ["PUT", `/${id}`, { active: false }], ["DELETE", `/${id}`], ["POST", `/${id}/test`], ["GET", `/${id}/deliveries`],
      ["GET", `/${id}/deliveries/${delivery}`],
      ["POST", `/${id}/deliveries/${delivery}/redeliver`], ["POST", `/${id}/replay`, { since: "1h" }],
    ] as const;
    for (const [method, path, body] of calls) expect([method, path, (await stack.call(theirs, method, path, body)).status]).toEqual([
      method, path, 404,
    ]);
    expect(listEnvelope(Webhook).parse((await stack.call(theirs, "GET", "")).body).data).toEqual([]);
    expect((await stack.call(mine, "GET", `/${id}`)).body).toMatchObject({ active: true });
  });

  test("is seen by viewers and changed by operators", async () => {
    const stack = await start();
    const viewer = await stack.createTenant("viewer");
    const id = createId();
    expect((await stack.call(viewer, "GET", "")).status).toBe(200);
    const writes = [
      ["POST", ""], ["PUT", `/${id}`], ["DELETE", `/${id}`], ["POST", `/${id}/test`], ["POST", `/${id}/deliveries/${id}/redeliver`],
      ["POST", `/${id}/replay`],
    ] as const;
    for (const [method, path] of writes) {
      const answer = await stack.call(viewer, method, path, {});
      expect([method, path, answer.status, answer.error.details]).toEqual([method, path, 403, { required: "webhooks:write" }]);
    }
  });
});

describe("a test", () => {
  test("sends a sample of the event's shape at once and answers with what came of it", async () => {
    const [stack, receiver] = [await start(), await receive()];
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url, events: ["scan.failed", "ids.alert"] });
    await stack.call(tenant, "PUT", `/${id}`, { active: false });
    const answer = await stack.call(tenant, "POST", `/${id}/test`);
    const [got] = receiver.received;
    expect([answer.status, answer.body]).toMatchObject([
      200, { status: "delivered", event: "scan.failed", status_code: 204, event_id: got?.payload.id, attempt: 1 },
    ]);
    expect(WebhookPayload.parse(got?.payload).data).toMatchObject({ reason: "a test", test: true, site_id: null });
    receiver.answer = (response) => void response.writeHead(500).end("no");
    const failed = await stack.call(tenant, "POST", `/${id}/test`, { event: "backup.failed" });
    expect(failed.body).toMatchObject({
      status: "failed", event: "backup.failed", status_code: 500, response_excerpt: "no", next_attempt_at: null,
    });
    expect((await deliveriesOf(stack, tenant, id)).data.map(({ event }) => event)).toEqual(["backup.failed", "scan.failed"]);
  });

  test("has data for every event that fits its schema", () => {
    for (const event of WEBHOOK_EVENTS) {
      const type = (Object.keys(EVENTS) as EventType[]).find((candidate) => EVENTS[candidate].webhook === event);
      expect([event, type && EVENTS[type].data.safeParse(SAMPLE_EVENTS[event]).success]).toEqual([event, true]);
    }
  });
});

describe("deliveries", () => {
  test("are listed newest first by pages and by cursor", async () => {
    const [stack, receiver] = [await start(), await receive()];
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url });
    await stack.append(tenant, Array.from({ length: 5 }, () => OFFLINE));
    await eventually("all delivered", async () => (await deliveriesOf(stack, tenant, id, "?status=delivered")).meta.total === 5);
    const all = (await deliveriesOf(stack, tenant, id)).data.map((delivery) => delivery.id);
    expect(all).toEqual(all.toSorted().toReversed());
    const second = await deliveriesOf(stack, tenant, id, "?per_page=2&page=2");
    expect([second.data.map((delivery) => delivery.id), second.meta]).toEqual([
      all.slice(2, 4), { page: 2, per_page: 2, total: 5, next_cursor: all[3] },
    ]);
    expect((await deliveriesOf(stack, tenant, id, `?per_page=2&cursor=${all[3]}`)).data.map((delivery) => delivery.id)).toEqual(
      all.slice(4),
    );
    expect((await stack.call(tenant, "GET", `/${id}/deliveries/${all[0]}`)).body).toMatchObject({ id: all[0], status: "delivered" });
    for (const query of ["?page=0", "?per_page=1001", "?cursor=x", "?status=gone"]) {
      expect((await stack.call(tenant, "GET", `/${id}/deliveries${query}`)).status).toBe(400);
    }
  });

  test("are made again one by one, with the same webhook-id and a record of their own", async () => {
    const [stack, receiver] = [await start(), await receive()];
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url });
    await stack.append(tenant, [OFFLINE]);
    const first = await eventually("delivered", async () => (await deliveriesOf(stack, tenant, id, "?status=delivered")).data[0]);
    const again = await stack.call(tenant, "POST", `/${id}/deliveries/${first.id}/redeliver`);
    const made = WebhookDelivery.parse(again.body);
    expect([again.status, made.status, made.event_id, made.id === first.id]).toEqual([202, "pending", first.event_id, false]);
    await receiver.got(2);
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([first.event_id, first.event_id]);
    expect(receiver.received[0]?.body).toBe(receiver.received[1]?.body);
    await eventually(
      "delivered again",
      async () => (await deliveriesOf(stack, tenant, id, "?status=delivered")).meta.total === 2,
    );
    const tested = WebhookDelivery.parse((await stack.call(tenant, "POST", `/${id}/test`)).body);
    expect((await stack.call(tenant, "POST", `/${id}/deliveries/${tested.id}/redeliver`)).error.code).toBe("CONFLICT");
    await stack.call(tenant, "PUT", `/${id}`, { active: false });
    expect((await stack.call(tenant, "POST", `/${id}/deliveries/${first.id}/redeliver`)).error.code).toBe("CONFLICT");
  });

  test("of a period are made again in order, of the events that the webhook takes now", async () => {
    const clock = createFakeClock();
    const [stack, receiver] = [await start({ clock }), await receive()];
    const tenant = await stack.createTenant();
    for (let hour = 0; hour < 6; hour += 1) {
      await stack.append(tenant, [OFFLINE, { type: "host_online" }, { ...OFFLINE, data: { ...OFFLINE.data, missed_checks: 10 + hour } }]);
      await clock.advance(1000);
      clock.jump(3_599_000);
    }
    const id = await stack.addWebhook(tenant, { url: receiver.url });
    const answer = await stack.call(tenant, "POST", `/${id}/replay`, { since: "2026-01-01T02:00:00Z", until: "2h" });
    expect([answer.status, answer.body]).toEqual([202, { queued: 4 }]);
    await receiver.got(4);
    expect(receiver.received.map(({ payload }) => payload.data["missed_checks"])).toEqual([3, 12, 3, 13]);
    expect((await stack.call(tenant, "POST", `/${id}/replay`, { since: "2w" })).body).toEqual({ queued: 12 });
    expect((await stack.call(tenant, "POST", `/${id}/replay`, { since: "1s" })).body).toEqual({ queued: 0 });
    for (const body of [{}, { since: "yesterday" }, { since: "1h", until: "2h" }, { since: "1h", all: true }]) {
      expect((await stack.call(tenant, "POST", `/${id}/replay`, body)).status).toBe(400);
    }
    await stack.call(tenant, "PUT", `/${id}`, { active: false });
    expect((await stack.call(tenant, "POST", `/${id}/replay`, { since: "1h" })).error.code).toBe("CONFLICT");
  });

  test("are queued once by a replay that is asked for twice", async () => {
    const [stack, receiver] = [await start(), await receive()];
    receiver.answer = () => {};
    const tenant = await stack.createTenant();
    await stack.append(tenant, Array.from({ length: 1200 }, () => OFFLINE));
    const id = await stack.addWebhook(tenant, { url: receiver.url });
    expect((await stack.call(tenant, "POST", `/${id}/replay`, { since: "1h" })).body).toEqual({ queued: 1200 });
    expect((await stack.call(tenant, "POST", `/${id}/replay`, { since: "1h" })).body).toEqual({ queued: 0 });
    expect((await deliveriesOf(stack, tenant, id, "?per_page=1")).meta.total).toBe(1200);
  });
});
