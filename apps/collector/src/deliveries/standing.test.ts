import { createFakeClock, type FakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { deliveriesOf, type DiplomatStack, eventually, OFFLINE, startAndClose } from "../services/diplomat/testing/stack.ts";
import type { TestTenant } from "../testing/gateway.ts";
import type { Mail, Mailer } from "./sending/mailer.ts";
import type { Receiver } from "./testing/receiver.ts";

const { start, receive } = startAndClose();

const failingNow = (stack: DiplomatStack, tenant: TestTenant, id: string) => async () => {
  const { body } = await stack.call(tenant, "GET", `/${id}`);
  return (body as { readonly status: string }).status === "failing";
};
const noticesOf = async (stack: DiplomatStack) => (await stack.db.selectFrom("webhook_notices").select("kind").orderBy("id").execute()).map(
  ({ kind }) => kind,
);

/** A webhook whose first event has had its five attempts. */
async function failFive(stack: DiplomatStack, clock: FakeClock, receiver: Receiver) {
  receiver.answer = (response) => void response.writeHead(500).end();
  const tenant = await stack.createTenant();
  const id = await stack.addWebhook(tenant, { url: receiver.url });
  await stack.append(tenant, [OFFLINE]);
  for (const [made, waitMs] of [[1, 30_000], [2, 120_000], [3, 600_000], [4, 3_600_000]] as const) {
    await eventually("kept", async () => (await deliveriesOf(stack, tenant, id)).data[0]?.attempt === made);
    await clock.leap(waitMs);
  }
  await eventually("failing", failingNow(stack, tenant, id));
  return { tenant, id };
}

describe("a failing webhook", () => {
  test("gets each new event once, is healthy with the first that arrives, and its owner is notified once", async () => {
    const clock = createFakeClock();
    const mails: Mail[] = [];
    const mailer: Mailer = { send: (mail) => Promise.resolve(void mails.push(mail)), close: () => {} };
    const [stack, receiver] = [await start({ clock, mailer }), await receive()];
    const { tenant, id } = await failFive(stack, clock, receiver);
    await stack.append(tenant, [OFFLINE]);
    await receiver.got(6);
    await eventually("failed", async () => (await deliveriesOf(stack, tenant, id, "?status=failed")).data.length === 2);
    await clock.leap(4_000_000);
    await clock.advance(10_000);
    expect([receiver.received.length, mails.length, mails[0]?.to, await noticesOf(stack)]).toEqual([
      6, 1, ["owner@example.com"], ["failing"],
    ]);
    receiver.answer = (response) => void response.writeHead(200).end();
    await stack.append(tenant, [OFFLINE]);
    await receiver.got(7);
    await eventually("healthy", async () => !(await failingNow(stack, tenant, id)()));
    receiver.answer = (response) => void response.writeHead(500).end();
    await stack.append(tenant, [OFFLINE]);
    await eventually("to be tried again", async () => (await deliveriesOf(stack, tenant, id)).data[0]?.next_attempt_at);
  });

  test("is deactivated after three days of failures with a second notice, and sent nothing more", async () => {
    const clock = createFakeClock();
    const [stack, receiver] = [await start({ clock }), await receive()];
    const { tenant, id } = await failFive(stack, clock, receiver);
    await stack.db.updateTable("webhooks").set({ failing_since: new Date(clock.now() - 3 * 86_400_000).toISOString() }).execute();
    await stack.append(tenant, [OFFLINE]);
    await receiver.got(6);
    await eventually("inactive", async () => !((await stack.call(tenant, "GET", `/${id}`)).body as { readonly active: boolean }).active);
    await stack.append(tenant, [OFFLINE]);
    await clock.advance(60_000);
    expect([receiver.received.length, await noticesOf(stack), (await deliveriesOf(stack, tenant, id)).data.length]).toEqual([
      6, ["failing", "deactivated"], 2,
    ]);
    receiver.answer = (response) => void response.writeHead(200).end();
    expect((await stack.call(tenant, "PUT", `/${id}`, { active: true })).body).toMatchObject({ active: true, status: "healthy" });
    await stack.append(tenant, [OFFLINE]);
    await receiver.got(7);
  });

  test("is made healthy by a test that arrives", async () => {
    const clock = createFakeClock();
    const [stack, receiver] = [await start({ clock }), await receive()];
    const { tenant, id } = await failFive(stack, clock, receiver);
    receiver.answer = (response) => void response.writeHead(200).end();
    await stack.call(tenant, "POST", `/${id}/test`);
    expect(await failingNow(stack, tenant, id)()).toBe(false);
  });
});

describe("a receiver's answer", () => {
  test("410 deactivates the webhook, and what waited has failed", async () => {
    const [stack, receiver] = [await start(), await receive()];
    receiver.answer = (response) => void response.writeHead(410).end();
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url });
    await stack.append(tenant, Array.from({ length: 20 }, () => OFFLINE));
    await eventually("all failed", async () => (await deliveriesOf(stack, tenant, id, "?status=failed")).data.length === 20);
    expect((await stack.call(tenant, "GET", `/${id}`)).body).toMatchObject({ active: false });
    expect((await deliveriesOf(stack, tenant, id)).data.map(({ error }) => error?.split(":")[0])).toEqual([
      ...Array.from({ length: 19 }, () => "inactive"), "status",
    ]);
    expect([receiver.received.length, await noticesOf(stack)]).toEqual([1, ["gone"]]);
  });

  test("429 with Retry-After puts the next attempt off for as long", async () => {
    const clock = createFakeClock();
    const [stack, receiver] = [await start({ clock }), await receive({ now: clock.now })];
    receiver.answer = (response) => void response.writeHead(429, { "retry-after": "100" }).end();
    const tenant = await stack.createTenant();
    const id = await stack.addWebhook(tenant, { url: receiver.url });
    await stack.append(tenant, [OFFLINE]);
    const { next_attempt_at: next } = await eventually(
      "kept", async () => (await deliveriesOf(stack, tenant, id)).data.find(({ attempt }) => attempt === 1),
    );
    expect(Date.parse(next ?? "") - clock.now()).toBe(100_000);
    await clock.advance(99_000);
    expect(receiver.received.length).toBe(1);
    await clock.advance(1000);
    await receiver.got(2);
  });
});
