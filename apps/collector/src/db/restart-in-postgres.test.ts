import { Acknowledgement, HealthResponse } from "@lanthorn/contract";
import { createId, type Log, silentLog, systemClock, toInstant } from "@lanthorn/runtime";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type PostgresServer, startPostgres } from "../../../../test/lab/postgres.ts";
import { type Receiver, startReceiver } from "../deliveries/testing/receiver.ts";
import { type RunningCollector, startCollector } from "../documents/testing/collector.ts";
import { enrollProbe } from "../documents/testing/neighbor.ts";
import { awaitDatabase } from "./await.ts";
import { openDatabase } from "./open.ts";

let server: PostgresServer;
let collector: RunningCollector;
let receiver: Receiver;
beforeAll(async () => {
  // Of its own, and one whose commits are on the disk: it is to be killed.
  server = await startPostgres({ isDurable: true });
  await server.createDatabase("collector");
  receiver = await startReceiver();
  collector = await startCollector('[webhooks]\nallow = ["127.0.0.1"]\n', { LANTHORN_DATABASE_URL: server.urlOf("collector") });
});
afterAll(async () => {
  await collector?.stop();
  await receiver?.close();
  await server?.close();
});

const within = { timeout: 300_000, interval: 50 };
const health = async () => {
  const response = await fetch(`${collector.url}/api/health`);
  return { status: response.status, parts: HealthResponse.parse(await response.json()).parts };
};

/** Sends its events in batches of five and again until they are acknowledged, as a probe does. */
async function startSender(token: string) {
  const { session, topic } = await enrollProbe(collector, token);
  const queueId = createId();
  let watermark = 0;
  const ending = new AbortController();
  let said = () => {};
  session.on("message", (_topic, payload) => {
    const ack = Acknowledgement.parse(JSON.parse(payload.toString()));
    if (ack.queue_id === queueId) watermark = Math.max(watermark, ack.watermark);
    said();
  });
  await session.subscribeAsync(topic("acks"), { qos: 1 });
  const at = toInstant(Date.now());
  await session.publishAsync(topic("status"), JSON.stringify({ v: 1, state: "online", version: "1", run_id: createId(), at }), { qos: 1 });
  const run = (async () => {
    while (!ending.signal.aborted) {
      const events = Array.from({ length: 5 }, (_, index) => ({
        seq: watermark + index + 1, type: "host_offline", occurred_at: toInstant(Date.now()),
        data: { ip: "192.0.2.1", mac: "", last_seen_at: at, missed_checks: 3 },
      }));
      const heard = new Promise<void>((resolve) => {
        said = resolve;
        setTimeout(resolve, 500);
      });
      session.publish(
        topic("events"), JSON.stringify({ v: 1, queue_id: queueId, after: watermark, sent_at: toInstant(Date.now()), events }), { qos: 1 },
      );
      await heard;
    }
  })();
  return {
    watermark: () => watermark,
    async end() {
      ending.abort();
      await run;
      session.end(true);
      return { queueId, watermark };
    },
  };
}

/** Makes devices one after the other. @returns The names of those whose making was answered with 201. */
function startMaker(token: string) {
  const made: string[] = [];
  const refusals = new Set<number>();
  const ending = new AbortController();
  const run = (async () => {
    for (let number = 1; !ending.signal.aborted; number += 1) {
      const hostname = `made-${number}`;
      const response = await fetch(`${collector.url}/api/v1/devices`, {
        method: "POST", body: JSON.stringify({ ip: `10.0.${number >> 8}.${number & 255}`, hostname }),
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      });
      if (response.status === 201) made.push(hostname);
      else refusals.add(response.status);
      await response.text();
    }
  })();
  return {
    made,
    async end() {
      ending.abort();
      await run;
      return [...refusals];
    },
  };
}

test("PostgreSQL may be restarted and killed under load: health tells, all goes on by itself, "
  + "and nothing that was answered is lost or doubled", async () => {
  const token = await collector.login();
  const webhook = await fetch(`${collector.url}/api/v1/integrations/webhooks`, {
    method: "POST", body: JSON.stringify({ url: receiver.url, events: ["device.offline"] }),
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
  });
  expect(webhook.status).toBe(201);
  const sender = await startSender(token);
  const maker = startMaker(token);
  for (const mode of ["fast", "immediate", "immediate"] as const) {
    const [sent, made] = [sender.watermark(), maker.made.length];
    await vi.waitFor(() => expect([sender.watermark() > sent + 50, maker.made.length > made + 20]).toEqual([true, true]), within);
    await server.stop(mode);
    expect(await health()).toMatchObject({ status: 503, parts: { database: { status: "degraded" } } });
    await server.start();
    await vi.waitFor(async () => expect((await health()).status).toBe(200), within);
  }
  const before = sender.watermark();
  await vi.waitFor(() => expect(sender.watermark()).toBeGreaterThan(before + 20), within);
  const refusals = await maker.end();
  const { queueId, watermark } = await sender.end();
  expect(refusals.filter((status) => status !== 503 && status !== 409)).toEqual([]);

  const { db, reads, close } = await openDatabase({ url: server.urlOf("collector") });
  const seqs = (await reads.selectFrom("events").select("probe_seq").where("queue_id", "=", queueId).orderBy("seq").execute())
    .map(({ probe_seq: seq }) => seq);
  expect(seqs.slice(0, watermark)).toEqual(Array.from({ length: watermark }, (_, index) => index + 1));
  expect(new Set(seqs).size).toBe(seqs.length);
  const names = (await db.selectFrom("devices").select("hostname").where("hostname", "like", "made-%").execute())
    .map(({ hostname }) => hostname);
  expect(new Set(names).size).toBe(names.length);
  expect(maker.made.filter((name) => !names.includes(name))).toEqual([]);
  const ids = async () => (await reads.selectFrom("events").select("id").where("queue_id", "=", queueId).execute()).map(({ id }) => id);
  await vi.waitFor(
    async () => expect((await ids()).filter((id) => !receiver.received.some(({ headers }) => headers["webhook-id"] === id))).toEqual([]),
    within,
  );
  const { rows: [counted] } = await sql<{ wrong: number }>`
    select count(*) as wrong from device_counts c where devices <> (select count(*) from devices d where d.site_id = c.site_id and d.is_online = c.is_online)`
      .execute(reads);
  expect(counted?.wrong).toBe(0);
  await close();
});

test("a start waits for a PostgreSQL that is not up yet", async () => {
  await server.stop("fast");
  const warnings: string[] = [];
  const log = { ...silentLog, warn: ((_: object, message: string) => void warnings.push(message)) as Log["warn"] };
  const opening = awaitDatabase({ url: server.urlOf("collector") }, { waitSeconds: 60, clock: systemClock, log });
  await vi.waitFor(() => expect(warnings).toContain("waiting for the database"), within);
  await server.start();
  await (await opening).close();
  await server.stop("fast");
  await expect(awaitDatabase({ url: server.urlOf("collector") }, { waitSeconds: 0, clock: systemClock, log })).rejects.toMatchObject({
    code: "database-unreachable",
  });
  await server.start();
});
