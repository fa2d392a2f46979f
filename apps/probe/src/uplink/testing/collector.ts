import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { gunzipSync } from "node:zlib";
import { type Acknowledgement, Batch, MESSAGE_VERSION, parseProbeTopic, probeTopic } from "@lanthorn/contract/uplink";
import { toInstant } from "@lanthorn/runtime";
import { Aedes, type AedesPublishPacket } from "aedes";

/** A payload that came on one of the probe's topics. */
export interface Received {
  readonly channel: string;
  readonly payload: Buffer;
  readonly retain: boolean;
}

/** A broker with as much of a collector behind it as the uplink's tests need: it keeps events by sequence and acknowledges. */
export interface TestCollector {
  readonly port: number;
  readonly received: readonly Received[];
  readonly batches: readonly Batch[];
  /** What is committed, in the order in which it came to be. */
  readonly events: readonly Batch["events"][number][];
  /** Times that a batch came before the last one was acknowledged. */
  readonly overtaken: number;
  watermark: number;
  /** What is done for a batch: the usual, nothing at all, or committing without a word. */
  mode: "acknowledge" | "deaf" | "mute" | "twice";
  /** Milliseconds that this side's clock is ahead. */
  clockAheadMs: number;
  publish(channel: "acks" | "commands" | "config", payload: string | Uint8Array, retain?: boolean): Promise<void>;
  acknowledge(overrides: Partial<Acknowledgement>): Promise<void>;
  /** Cuts every connection. */
  cut(): void;
  /** Resolves once `fact` holds; looked at after every packet. */
  until(fact: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** At 127.0.0.1, on a free port unless one is given. It knows the topics of one probe. */
export async function startTestCollector(options: {
  readonly tenantId: string; readonly probeId: string; readonly port?: number; readonly tls?: TlsOptions;
}): Promise<TestCollector> {
  const broker = await Aedes.createBroker();
  const sockets = new Set<Socket>();
  const handle = (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    broker.handle(socket);
  };
  const server: Server = options.tls ? createTlsServer(options.tls, handle) : createTcpServer(handle);
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");

  const received: Received[] = [];
  const batches: Batch[] = [];
  const events: Batch["events"][number][] = [];
  const watchers = new Set<() => void>();
  let queueId: string | null = null;
  let unanswered = false;
  let overtaken = 0;

  const publish = (
    channel: "acks" | "commands" | "config", payload: string | Uint8Array, retain = false,
  ) => new Promise<void>((resolve, reject) => {
    const topic = probeTopic(options.tenantId, options.probeId, channel);
    broker.publish(
      { cmd: "publish", topic, payload: Buffer.from(payload), qos: 1, retain, dup: false }, (error) => (error ? reject(error) : resolve()),
    );
  });
  const acknowledge = async (overrides: Partial<Acknowledgement>) => {
    const last = batches.at(-1);
    unanswered = false;
    const now = toInstant(Date.now() + collector.clockAheadMs);
    await publish("acks", JSON.stringify({
      v: MESSAGE_VERSION, queue_id: last?.queue_id ?? null, watermark: collector.watermark, refused: null,
      batch_sent_at: last?.sent_at ?? null, received_at: now, sent_at: now, ...overrides,
    }));
  };

  async function onBatch(payload: Buffer): Promise<void> {
    const batch = Batch.parse(JSON.parse(gunzipSync(payload).toString()));
    batches.push(batch);
    if (unanswered) overtaken += 1;
    unanswered = true;
    if (collector.mode === "deaf") return;
    if (queueId !== null && batch.queue_id !== queueId) collector.watermark = 0;
    queueId = batch.queue_id;
    if (batch.after > collector.watermark) {
      await acknowledge({ refused: { code: "gap", message: "unknown sequence" } });
      return;
    }
    for (const event of batch.events) {
      if (event.seq <= collector.watermark) continue;
      events.push(event);
      collector.watermark = event.seq;
    }
    if (collector.mode === "mute") return;
    await acknowledge({});
    if (collector.mode === "twice") await acknowledge({});
  }

  broker.on("publish", (packet: AedesPublishPacket, client) => {
    const topic = parseProbeTopic(packet.topic);
    if (topic && (client || topic.channel === "status")) {
      const payload = Buffer.from(packet.payload);
      received.push({ channel: topic.channel, payload, retain: packet.retain });
      if (topic.channel === "events") void onBatch(payload);
    }
    for (const watcher of watchers) watcher();
  });

  const collector: TestCollector = {
    port: (server.address() as AddressInfo).port,
    received, batches, events,
    get overtaken() {
      return overtaken;
    },
    watermark: 0,
    mode: "acknowledge",
    clockAheadMs: 0,
    publish,
    acknowledge,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    until: (fact) => new Promise((resolve) => {
      const look = () => {
        if (!fact()) return;
        watchers.delete(look);
        clearInterval(timer);
        resolve();
      };
      // Facts on the probe's side change without a packet.
      const timer = setInterval(look, 5);
      watchers.add(look);
      look();
    }),
    async close() {
      for (const socket of sockets) socket.destroy();
      const closed = once(server, "close");
      server.close();
      await new Promise<void>((resolve) => broker.close(resolve));
      await closed;
    },
  };
  return collector;
}
