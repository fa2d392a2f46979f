import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, createId, type FakeClock, silentLog, systemClock, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../db/open.ts";
import { createEventLog } from "../events/log.ts";
import { createReactions } from "../events/reaction.ts";
import { REACTION_ORDER, REACTIONS } from "../reactions.ts";
import { eventually, OFFLINE } from "../services/diplomat/testing/stack.ts";
import { openTestDatabase } from "../testing/database.ts";
import { createAttempt } from "./sending/attempt.ts";
import { createClaims } from "./worker/claims-store.ts";
import { createDeliveryReaction } from "./reaction.ts";
import { singleKey } from "../sealing/keyring.ts";
import { createSealing } from "../sealing/sealing.ts";
import { createSender } from "./sending/send.ts";
import { createDeliveryStore } from "./store.ts";
import { subscriptionsChanged } from "./subscriptions-store.ts";
import { createTargetPolicy } from "./sending/target-policy.ts";
import { type Receiver, startReceiver } from "./testing/receiver.ts";
import { sealSecret } from "./webhook-secrets.ts";
import { createDeliveryWorker, type DeliveryWorker } from "./worker/worker.ts";

let directory = "";
let database: Database;
let receiver: Receiver;
const tenantId = createId();
const sealing = createSealing(singleKey(new Uint8Array(32)));
const workers: { readonly worker: DeliveryWorker; readonly close: () => void }[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-claims-"));
  database = await openTestDatabase(directory);
  await database.db.insertInto("tenants").values({ id: tenantId, name: "tenant", created_at: "" }).execute();
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(workers.map(({ worker }) => worker.close()));
  for (const { close } of workers.splice(0)) close();
  await receiver.close();
  await database.close();
  rmSync(directory, { recursive: true });
});

/** A process of its own as far as the database can tell; it lives for as long as its clock is moved. */
async function startWorker(): Promise<FakeClock> {
  const clock = createFakeClock();
  const sender = createSender({ clock: systemClock }, { ca: null });
  const attempt = createAttempt({
    policy: createTargetPolicy(["127.0.0.1"]), resolve: () => Promise.reject(new Error("no names here")), sender, clock, userAgent: "test",
  });
  const worker = createDeliveryWorker(
    { store: createDeliveryStore(database), claims: createClaims(database), attempt, sealing, clock, log: silentLog }, { isAlone: false },
  );
  workers.push({ worker, close: () => sender.close() });
  await worker.start();
  return clock;
}

async function addWebhooks(count: number): Promise<void> {
  await database.db.transaction().execute(async (trx) => {
    for (let index = 0; index < count; index += 1) {
      const id = createId();
      await trx.insertInto("webhooks").values({
        id, tenant_id: tenantId, url: `${receiver.url}/${index}`, events: '["device.offline"]', active: 1, status: "healthy",
        failing_since: null,
        ...sealSecret(sealing, id, "a secret"), previous_secret_sealed: null, previous_secret_until: null, created_at: "",
        last_delivery_at: null,
        worker_id: null,
      }).execute();
    }
    await subscriptionsChanged(trx, tenantId);
  });
}

async function append(count: number): Promise<void> {
  const deliveries = createDeliveryReaction();
  const log = createEventLog({ reads: database.reads, reactions: createReactions(REACTIONS, REACTION_ORDER, { deliveries }) });
  const at = toInstant(Date.now());
  const event = { ...OFFLINE, siteId: null, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at };
  await database.db.transaction().execute((trx) => log.append(trx, tenantId, Array.from({ length: count }, () => event)));
}

const delivered = async () =>
  (await database.reads.selectFrom("webhook_deliveries").select("id").where("status", "!=", "delivered").executeTakeFirst()) === undefined;
const holders = async () => (await database.reads.selectFrom("webhooks").select("worker_id").execute()).map(({ worker_id: id }) => id);

/** Moves the clocks of the workers that live, until something holds. */
async function during(clocks: readonly FakeClock[], what: string, ask: () => Promise<boolean> | boolean): Promise<void> {
  await eventually(what, async () => {
    for (const clock of clocks) await clock.advance(500);
    return ask();
  });
}

describe("several processes", () => {
  test("never send one delivery twice, nor two to one webhook at once", async () => {
    await addWebhooks(10);
    const clocks = [await startWorker(), await startWorker(), await startWorker()];
    const busy = new Map<string, number>();
    let most = 0;
    receiver.answer = (response, _, { path }) => {
      busy.set(path, (busy.get(path) ?? 0) + 1);
      most = Math.max(most, busy.get(path) ?? 0);
      setTimeout(() => {
        busy.set(path, (busy.get(path) ?? 0) - 1);
        response.writeHead(204).end();
      }, 2);
    };
    for (let round = 0; round < 5; round += 1) {
      await append(4);
      await during(clocks, "arrived", () => receiver.received.length >= (round + 1) * 40);
    }
    await during(clocks, "kept", delivered);
    const sent = receiver.received.map(({ path, headers }) => `${path} ${String(headers["webhook-id"])}`);
    expect([sent.length, new Set(sent).size, most]).toEqual([200, 200, 1]);
  });

  test("share the webhooks: one that comes later gets its part when they are idle", async () => {
    await addWebhooks(10);
    const first = await startWorker();
    await append(1);
    await during([first], "arrived", () => receiver.received.length === 10);
    expect(new Set(await holders()).size).toBe(1);
    const second = await startWorker();
    await during([first, second], "given back", async () => (await holders()).filter((id) => id === null).length === 5);
    await append(1);
    await during([first, second], "arrived", () => receiver.received.length === 20);
    const [one, ...others] = await holders();
    expect([others.filter((id) => id === one).length, new Set(others).size, others.includes(null)]).toEqual([4, 2, false]);
  });

  test("take over from one that is dead, also when it wakes up again", async () => {
    await addWebhooks(2);
    const held: ServerResponse[] = [];
    receiver.answer = (response) => void held.push(response);
    const dying = await startWorker();
    await append(1);
    await during([dying], "under way", () => receiver.received.length === 2);
    const heir = await startWorker();
    receiver.answer = (response) => void response.writeHead(200).end();
    // The one that lives sees the other's counter stand still.
    await during([heir], "taken over", () => receiver.received.length === 4);
    await during([heir], "delivered", delivered);
    for (const response of held) response.writeHead(204).end();
    await dying.advance(6000);
    await append(1);
    await during([dying, heir], "sent once more", () => receiver.received.length === 6);
    await during([dying, heir], "delivered", delivered);
    const rows = await database.reads.selectFrom("webhook_deliveries").select(["attempt", "status_code"]).execute();
    expect(rows).toEqual(Array.from({ length: 4 }, () => ({ attempt: 1, status_code: 200 })));
  });
});
