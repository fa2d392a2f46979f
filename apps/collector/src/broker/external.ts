import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { COLLECTOR_LOST_TOPIC, probeTopic, TOPIC_PREFIX } from "@lanthorn/contract";
import { type Clock, createBackoff, describeError, type Log } from "@lanthorn/runtime";
import { connect, type IClientOptions, type MqttClient } from "mqtt";
import type { Broker, Peers, UpChannel } from "./broker.ts";
import { createIntake } from "./external-intake.ts";
import { createPeerMessages } from "./external-peers.ts";

interface ExternalBrokerOptions {
  /** What this collector is called there: no two that run at the same time may be called the same. */
  readonly name: string;
  /** All collectors of a deployment have the same group and share the probes' messages; nobody else knows it. */
  readonly group: string;
  /** With which collectors sign what they tell each other of people's access; nobody else knows it. */
  readonly announcementKey: Uint8Array;
  /** `mqtts://host:port`, or `mqtt://` for one on this machine. */
  readonly url: string;
  /** PEM texts for `mqtts`: the authority of the broker's certificate, and this collector's own key and certificate. */
  readonly tls: { readonly ca: string; readonly key: string; readonly certificate: string } | null;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

const QOS = 1;
const KEEPALIVE_SECONDS = 30;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Whether one collector gets each message, or every one. A status is rare, matters to all, and is kept by the broker for those that
 * come later, which is not done for shared subscriptions.
 */
const UP_CHANNELS: Readonly<Record<UpChannel, "one" | "every">> = { events: "one", health: "one", replies: "one", status: "every" };

/**
 * A broker that runs elsewhere (mosquitto, EMQX), as its client. Who may publish and subscribe to what is that broker's to
 * enforce, by the rules in `systemd/mosquitto.acl`; here a probe is whoever its topic names. It is tried for ever, with backoff;
 * while it is away `health` says so and `publish` rejects.
 *
 * Several collectors share the messages (MQTT 5 section 4.8.2, which mosquitto and EMQX do for 3.1.1 as well). The session is not kept:
 * a kept one goes on getting its share while its collector is dead, and those batches would wait for it. Without one,
 * what a collector had not committed when it died is gone from the broker, and its probe sends it again.
 */
export function createExternalBroker(options: ExternalBrokerOptions): Broker {
  const { clock, log } = options;
  // The URL may hold a password.
  const { host } = new URL(options.url);
  const backoff = createBackoff({ firstMs: 500, longestMs: 30_000, random: options.random });
  let client: MqttClient | null = null;
  let isReady = false;
  let lastFault = "not connected yet";
  let isClosed = false;
  let cancelRetry = () => {};
  let peers: Peers | null = null;
  const messages = createPeerMessages({ ...options, client: () => (isReady ? client : null), peers: () => peers });
  const unanswered = createUnanswered();

  const retry = () => {
    isReady = false;
    unanswered.giveUp(new Error("the connection to the broker was lost before it answered"));
    if (isClosed) return;
    const waitMs = backoff.next();
    log.warn({ reason: lastFault, retry_in_ms: waitMs }, "the broker is not connected");
    cancelRetry();
    cancelRetry = clock.after(waitMs, () => client?.reconnect());
  };
  const onConnect = async (to: MqttClient) => {
    // An acknowledgement waits for no other.
    if ("setNoDelay" in to.stream) (to.stream as Socket).setNoDelay(true);
    try {
      await subscribe(to, [...upTopics(options.group), ...messages.topics(options.group)]);
      backoff.reset();
      isReady = true;
      log.info({ host }, "connected to the broker");
    } catch (error) {
      lastFault = describeError(error);
      to.stream.destroy();
    }
  };
  return {
    async start(receiver, others) {
      peers = others ?? null;
      client = connect(options.url, clientOptions(options, { hasPeers: peers !== null }));
      const own = client;
      own.handleMessage = createIntake({ receiver, hear: messages.hear, log });
      own.on("connect", () => void onConnect(own));
      own.on("error", (error) => {
        lastFault = error.message;
      });
      own.on("close", retry);
      return Promise.resolve();
    },
    async publish(probe, channel, payload, { retain }) {
      if (!client || !isReady) throw new Error(`the broker is not connected: ${lastFault}`);
      await unanswered.wait(client.publishAsync(probeTopic(probe.tenantId, probe.probeId, channel), payload, { qos: QOS, retain }));
    },
    announce: messages.announce,
    announceAccess: messages.announceAccess,
    // Its session is the other broker's. What it sends from now on is not taken, and its certificate can be put on that broker's list.
    disconnect: () => {},
    sessions: () => null,
    health() {
      if (isReady) return { status: "ok", detail: `connected to ${host}` };
      return { status: "degraded", detail: `the broker at ${host} is not connected: ${lastFault}` };
    },
    async close() {
      isClosed = true;
      cancelRetry();
      isReady = false;
      await client?.endAsync(true);
    },
  };
}

function clientOptions({ name, tls }: ExternalBrokerOptions, { hasPeers }: { readonly hasPeers: boolean }): IClientOptions {
  return {
    clientId: `${name}-${randomUUID()}`,
    protocolVersion: 4,
    clean: true,
    keepalive: KEEPALIVE_SECONDS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Ours waits longer each time, and by the clock that was passed in.
    reconnectPeriod: 0,
    queueQoSZero: false,
    ...(hasPeers ? { will: { topic: COLLECTOR_LOST_TOPIC, payload: Buffer.from(name), qos: QOS, retain: false } } : {}),
    ...(tls ? { ca: tls.ca, key: tls.key, cert: tls.certificate, rejectUnauthorized: true } : {}),
  };
}

function upTopics(group: string): readonly string[] {
  return Object.entries(UP_CHANNELS).map(([channel, whose]) => `${whose === "one" ? `$share/${group}/` : ""}${TOPIC_PREFIX}/+/+/${channel}`);
}

async function subscribe(to: MqttClient, topics: readonly string[]): Promise<void> {
  const grants = await to.subscribeAsync([...topics], { qos: QOS });
  if (grants.some(({ qos }) => qos >= 128)) throw new Error("the broker does not let this collector subscribe to the probes' messages");
}

/** Ends each publish that the broker has not answered when the connection is lost: mqtt.js forgets them when it connects anew. */
function createUnanswered() {
  const waiting = new Set<(error: Error) => void>();
  return {
    async wait(sent: Promise<unknown>): Promise<void> {
      let abandon: (error: Error) => void = () => {};
      const lost = new Promise<never>((_, reject) => {
        abandon = reject;
        waiting.add(abandon);
      });
      await Promise.race([sent, lost]).finally(() => waiting.delete(abandon));
    },
    /** Whoever waits for one would wait for ever, and the probe's next batch behind it. */
    giveUp(error: Error): void {
      for (const abandon of waiting) abandon(error);
    },
  };
}
