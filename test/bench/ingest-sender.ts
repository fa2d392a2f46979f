import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { Acknowledgement, Batch, BATCH_MAX_EVENTS, probeTopic } from "@lanthorn/contract";
import { createId, seededRandom, toInstant } from "@lanthorn/runtime";
import { connectAsync } from "mqtt";
import { makeEvents } from "./ingest-events.ts";

/** The order that a sender reads from its standard input, as JSON. */
export interface SenderOrder {
  readonly mqttUrl: string;
  readonly ca: string;
  readonly key: string;
  readonly certificate: string;
  readonly tenantId: string;
  readonly probeId: string;
  readonly events: number;
  readonly seed: number;
}

/** One probe's queue as the batches that its uplink sends, compressed as it compresses them. */
export function makeBatches(events: number, seed: number): readonly { readonly payload: Buffer; readonly lastSeq: number }[] {
  const batches: { payload: Buffer; lastSeq: number }[] = [];
  const queueId = queueIdOf(seed);
  let open: object[] = [];
  let seq = 0;
  const close = () => {
    const batch = { v: 1, queue_id: queueId, after: seq - open.length, sent_at: toInstant(Date.now()), events: open };
    batches.push({ payload: gzipSync(JSON.stringify(batch), { level: 1 }), lastSeq: seq });
    open = [];
  };
  for (const event of makeEvents(events, seededRandom(seed))) {
    seq += 1;
    open.push({ seq, ...event });
    if (open.length === BATCH_MAX_EVENTS) close();
  }
  if (open.length > 0) close();
  return batches;
}

/** @returns The batch in one of `makeBatches`' payloads. */
export function readPayload(payload: Buffer): Batch {
  return Batch.parse(JSON.parse(gunzipSync(payload).toString()));
}

/** The same queue for the same seed, so that the floor writes the very rows. */
function queueIdOf(seed: number): string {
  const hex = createHash("sha256").update(`queue ${seed}`).digest("hex");
  return `01900000-0000-7000-8000-${hex.slice(0, 12)}`;
}

/** Speaks a probe's protocol: one batch in flight, the next on the acknowledgement of the one before. */
async function send(order: SenderOrder): Promise<void> {
  const batches = makeBatches(order.events, order.seed);
  const topic = (channel: "events" | "acks" | "status") => probeTopic(order.tenantId, order.probeId, channel);
  const client = await connectAsync(
    order.mqttUrl,
    { ca: order.ca, key: order.key, cert: order.certificate, clientId: order.probeId, protocolVersion: 4, reconnectPeriod: 0 },
  );
  await client.subscribeAsync(topic("acks"), { qos: 1 });
  await client.publishAsync(
    topic("status"), JSON.stringify({ v: 1, state: "online", version: "bench", run_id: createId(), at: toInstant(Date.now()) }), { qos: 1 },
  );
  let index = 0;
  const startedAt = performance.now();
  await new Promise<void>((resolve, reject) => {
    const next = () => client.publish(topic("events"), (batches[index] as { payload: Buffer }).payload, { qos: 1 });
    client.on("message", (_topic, payload) => {
      const ack = Acknowledgement.parse(JSON.parse(payload.toString()));
      if (ack.refused || ack.watermark !== batches[index]?.lastSeq) return reject(
        new Error(`not the acknowledgement of batch ${index}: ${payload.toString()}`),
      );
      index += 1;
      return index === batches.length ? resolve() : next();
    });
    client.on(
      "close",
      () => reject(
        new Error(
          `the connection was closed at batch ${index} of ${batches.length}, after ${Math.round(performance.now() - startedAt)} ms`,
        ),
      ),
    );
    next();
  });
  const seconds = (performance.now() - startedAt) / 1000;
  process.stdout.write(
    `${JSON.stringify({ seconds, batches: batches.length, bytes: batches.reduce((sum, { payload }) => sum + payload.length, 0) })}\n`,
  );
  client.removeAllListeners("close");
  await client.endAsync();
}

if (process.argv[2] === "send") await send(JSON.parse(await text(process.stdin)) as SenderOrder);
