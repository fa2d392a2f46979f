import { connect, type TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { Acknowledgement, BATCH_MAX_EVENTS, Command, MESSAGE_VERSION, type ProbeChannel, type ProbeEvent, type ProbeHealth, probeTopic } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { generate, type Packet, parser } from "mqtt-packet";

/** Who a probe is, and where its broker is. PEM texts. */
export interface ProbeIdentity {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly key: string;
  readonly certificate: string;
  readonly tenantId: string;
  readonly probeId: string;
}

/**
 * The uplink of a probe without the rest of it: a queue in memory, one batch in flight, sent again until the collector's
 * watermark has passed it. It is small, so that thousands fit into one process and what is measured is not they.
 */
export interface SimulatedProbe {
  readonly probeId: string;
  readonly queueId: string;
  /** Puts an event into the queue. */
  say(event: ProbeEvent): void;
  /** Reports how it is, at once and after each connection. */
  report(health: ProbeHealth): void;
  /** Events that were put into the queue, and how many of them the collector has confirmed. */
  said(): number;
  acknowledged(): number;
  isConnected(): boolean;
  /** Connects, and from then on again whenever the connection is lost. */
  open(): void;
  close(): void;
}

const RECONNECT_MS = 500;
/** As the probe's own: see its `delivery.ts`. */
const ACK_TIMEOUT_MS = 15_000;
const NOT_READY_MS = 1000;
const KEEPALIVE_SECONDS = 60;

interface Queued {
  readonly seq: number;
  readonly event: ProbeEvent;
  /** By the clock of this process. */
  readonly atMs: number;
}

/**
 * @param options.onLag Told of each event how long it took from being said to being confirmed.
 * @param options.onCommand Gives the data of the reply to a command, which is never refused. Commands have no reply without it.
 */
export function createSimulatedProbe(identity: ProbeIdentity, options: {
  readonly onLag?: (ms: number) => void; readonly onCommand?: (command: Command) => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>;
} = {}): SimulatedProbe {
  const { tenantId, probeId } = identity;
  const queueId = createId();
  const runId = createId();
  const topic = (channel: ProbeChannel) => probeTopic(tenantId, probeId, channel);
  let queue: Queued[] = [];
  let said = 0;
  let watermark = 0;
  let socket: TLSSocket | null = null;
  let isUp = false;
  let isClosed = false;
  let inFlight: { readonly lastSeq: number; readonly sentAt: string } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let messageId = 0;
  let health: ProbeHealth | null = null;

  const write = (packet: Packet) => void socket?.write(generate(packet));
  const publish = (channel: ProbeChannel, payload: Buffer, retain = false) => {
    messageId = (messageId % 65_535) + 1;
    write({ cmd: "publish", topic: topic(channel), payload, qos: 1, retain, dup: false, messageId });
  };
  const status = (state: "online" | "lost") =>
    Buffer.from(JSON.stringify({ v: MESSAGE_VERSION, state, version: "simulated", run_id: runId, at: toInstant(Date.now()) }));

  const sendAfter = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      inFlight = null;
      send();
    }, ms);
  };
  function send(): void {
    if (!isUp || inFlight) return;
    const batch = queue.slice(0, BATCH_MAX_EVENTS);
    const last = batch.at(-1);
    if (!last) return;
    const sentAt = toInstant(Date.now());
    const events = batch.map(({ seq, event }) => ({ seq, ...event }));
    const text = JSON.stringify({ v: MESSAGE_VERSION, queue_id: queueId, after: watermark, sent_at: sentAt, events });
    inFlight = { lastSeq: last.seq, sentAt };
    publish("events", text.length > 1024 ? gzipSync(text, { level: 1 }) : Buffer.from(text));
    sendAfter(ACK_TIMEOUT_MS);
  }
  const onAcknowledgement = (payload: Buffer) => {
    const ack = Acknowledgement.parse(JSON.parse(payload.toString()));
    if (ack.refused?.code === "not-ready") {
      if (inFlight) sendAfter(NOT_READY_MS);
      return;
    }
    if (ack.refused) throw new Error(`the collector refused a batch: ${ack.refused.code} ${ack.refused.message}`);
    if (ack.queue_id !== queueId || ack.watermark <= watermark) return;
    watermark = ack.watermark;
    const now = performance.now();
    for (const { seq, atMs } of queue) if (seq <= watermark) options.onLag?.(now - atMs);
    queue = queue.filter(({ seq }) => seq > watermark);
    if (inFlight && inFlight.lastSeq > watermark) return;
    clearTimeout(timer);
    inFlight = null;
    send();
  };
  const reply = async (payload: Buffer) => {
    if (!options.onCommand) return;
    const command = Command.parse(JSON.parse(payload.toString()));
    const data = await options.onCommand(command);
    publish("replies", Buffer.from(JSON.stringify({ v: MESSAGE_VERSION, command_id: command.id, ok: true, error: null, data })));
  };
  const reportHealth = () => {
    if (isUp && health) publish("health", Buffer.from(JSON.stringify(health)));
  };
  const onPacket = (packet: Packet) => {
    if (packet.cmd === "connack" && packet.returnCode !== 0) socket?.destroy();
    else if (packet.cmd === "connack") {
      messageId = (messageId % 65_535) + 1;
      const subscriptions = [topic("acks"), topic("commands"), topic("config")].map((each) => ({ topic: each, qos: 1 }) as const);
      write({ cmd: "subscribe", messageId, subscriptions });
    } else if (packet.cmd === "suback") {
      isUp = true;
      publish("status", status("online"), true);
      reportHealth();
      send();
    } else if (packet.cmd === "publish") {
      if (packet.qos > 0) write({ cmd: "puback", messageId: packet.messageId as number });
      if (packet.topic === topic("acks")) onAcknowledgement(packet.payload as Buffer);
      else if (packet.topic === topic("commands")) void reply(packet.payload as Buffer);
    }
  };

  function open(): void {
    const { host, port, ca, key, certificate } = identity;
    const own = connect({ host, port, ca, key, cert: certificate, checkServerIdentity: () => undefined });
    const read = parser({ protocolVersion: 4 });
    read.on("packet", onPacket);
    read.on("error", () => own.destroy());
    socket = own;
    own.setNoDelay(true);
    own.on("secureConnect", () => write({
      cmd: "connect", protocolId: "MQTT", protocolVersion: 4, clientId: probeId, clean: true, keepalive: KEEPALIVE_SECONDS,
      will: { topic: topic("status"), payload: status("lost"), qos: 1, retain: true },
    }));
    own.on("data", (chunk: Buffer) => void read.parse(chunk));
    own.on("error", () => {});
    own.on("close", () => {
      isUp = false;
      inFlight = null;
      clearTimeout(timer);
      if (!isClosed) reconnect = setTimeout(open, RECONNECT_MS * (1 + Math.random()));
    });
  }

  return {
    probeId, queueId, open,
    say(event) {
      said += 1;
      queue.push({ seq: said, event, atMs: performance.now() });
      send();
    },
    report(next) {
      health = next;
      reportHealth();
    },
    said: () => said,
    acknowledged: () => watermark,
    isConnected: () => isUp,
    close() {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(reconnect);
      socket?.destroy();
    },
  };
}

const HOSTS_OF_EACH = 8;

/** What a small site's probe says, one event at a time: its hosts are found, then they are seen, come and go, and show ports. */
export function simulatedEvent(probe: number, count: number): ProbeEvent {
  const at = toInstant(Date.now());
  const index = count % HOSTS_OF_EACH;
  const hex = (value: number) => (value & 0xff).toString(16).padStart(2, "0");
  const mac = `00:1b:63:${hex(probe >> 8)}:${hex(probe)}:${hex(index)}`;
  const ip = `10.${20 + (probe >> 8)}.${probe & 0xff}.${10 + index}`;
  if (count < HOSTS_OF_EACH) {
    const evidence = [{ field: "ip", value: ip, source: "arp", confidence: 0.9, seen_at: at }];
    return { type: "host_found", occurred_at: at, data: { ip, mac, hostname: `host-${index}`, vendor: "", addresses: [ip], evidence } };
  }
  const turn = Math.floor(count / HOSTS_OF_EACH) % 4;
  if (turn === 0) return { type: "host_offline", occurred_at: at, data: { ip, mac, last_seen_at: at, missed_checks: 3 } };
  if (turn === 1) return { type: "host_online", occurred_at: at, data: { ip, mac, last_seen_at: at } };
  if (turn === 2) {
    const data = {
      ip, mac, port: 8000 + (count % 5), protocol: "tcp", state: "open", service: "http", version: "", banner: "", scan_id: null,
    } as const;
    return { type: "port_found", occurred_at: at, data };
  }
  return { type: "presence_report", occurred_at: at, data: { hosts: [{ ip, mac, last_seen_at: at, presence_state: "online" }] } };
}
