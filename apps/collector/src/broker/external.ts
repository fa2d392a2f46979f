import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import {
  accessTopic, COLLECTOR_LOST_TOPIC, PAYLOAD_MAX_BYTES, parseAccessTopic, parseProbeTopic, parseStreamTopic, PROBE_CHANNELS, probeTopic,
  streamTopic, TOPIC_PREFIX,
} from "@lanthorn/contract";
import { type Clock, createBackoff, describeError, type Log } from "@lanthorn/runtime";
import { connect, type IPublishPacket, type MqttClient } from "mqtt";
import type { Broker, Peers, ProbeReceiver, UpChannel } from "./broker.ts";

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
/** What is committed within this is announced once. */
const ANNOUNCE_AFTER_MS = 20;
/** Payloads that have arrived and are not yet committed, of all probes together. Past it, nothing more is read. */
const IN_FLIGHT_MAX_BYTES = 32 * 1024 * 1024;
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
  let inFlightBytes = 0;
  let waiting: (() => void)[] = [];
  let peers: Peers | null = null;
  let toAnnounce = new Set<string>();
  /** Ends each publish that the broker has not answered yet. */
  const unanswered = new Set<(error: Error) => void>();

  const retry = () => {
    isReady = false;
    // mqtt.js forgets them when it connects anew: whoever waits for one would wait for ever, and the probe's next batch behind it.
    for (const abandon of unanswered) abandon(new Error("the connection to the broker was lost before it answered"));
    if (isClosed) return;
    const waitMs = backoff.next();
    log.warn({ reason: lastFault, retry_in_ms: waitMs }, "the broker is not connected");
    cancelRetry();
    cancelRetry = clock.after(waitMs, () => client?.reconnect());
  };
  const subscribe = async (to: MqttClient) => {
    const topics = Object.entries(UP_CHANNELS)
      .map(([channel, whose]) => `${whose === "one" ? `$share/${options.group}/` : ""}${TOPIC_PREFIX}/+/+/${channel}`);
    const grants = await to.subscribeAsync([
      ...topics, ...(peers ? [`$share/${options.group}/${COLLECTOR_LOST_TOPIC}`, `${TOPIC_PREFIX}/+/stream`, `${TOPIC_PREFIX}/+/access`] : []),
    ], { qos: QOS });
    const refused = grants.filter((grant) => grant.qos >= 128);
    if (refused.length > 0) throw new Error("the broker does not let this collector subscribe to the probes' messages");
    backoff.reset();
    isReady = true;
    log.info({ host }, "connected to the broker");
  };

  const hearAccess = (tenantId: string, payload: string) => {
    const [name = "", signature = ""] = payload.split(" ");
    if (name === options.name) return;
    const [given, expected] = [Buffer.from(signature), Buffer.from(signAccess(tenantId, name))];
    if (given.length === expected.length && timingSafeEqual(given, expected)) peers?.accessChanged(tenantId);
    else log.warn({ tenant_id: tenantId }, "a message that claims to be from another collector has no valid signature, and is dropped");
  };
  /** Nothing in it keeps it from being sent again: all that it brings about is one more look at who may have a stream. */
  const signAccess = (tenantId: string, name: string) =>
    createHmac("sha256", options.announcementKey).update(`${tenantId} ${name}`).digest("hex");
  const hear = (packet: IPublishPacket): boolean => {
    if (packet.topic === COLLECTOR_LOST_TOPIC) peers?.lost();
    const tenantId = parseStreamTopic(packet.topic);
    if (tenantId !== null && packet.payload.toString() !== options.name) peers?.committed(tenantId);
    const accessOf = parseAccessTopic(packet.topic);
    if (accessOf !== null) hearAccess(accessOf, packet.payload.toString());
    return packet.topic === COLLECTOR_LOST_TOPIC || tenantId !== null || accessOf !== null;
  };
  const announceAll = () => {
    const tenants = toAnnounce;
    toAnnounce = new Set();
    if (!isReady) return;
    for (const tenantId of tenants) client?.publish(streamTopic(tenantId), options.name, { qos: 0 });
  };

  const take = async (receiver: ProbeReceiver, packet: IPublishPacket) => {
    if (hear(packet)) return;
    const address = parseProbeTopic(packet.topic);
    if (!address || PROBE_CHANNELS[address.channel] !== "up") return;
    const { tenantId, probeId } = address;
    const channel = address.channel as UpChannel;
    const payload = typeof packet.payload === "string" ? Buffer.from(packet.payload) : packet.payload;
    if (payload.length > PAYLOAD_MAX_BYTES) return receiver.refused({ tenantId, probeId }, "too-large", channel);
    // An empty retained message is only the end of an earlier one.
    if (payload.length === 0 && packet.retain) return;
    inFlightBytes += payload.length;
    await receiver.receive({ tenantId, probeId, channel, payload, retained: packet.retain });
    inFlightBytes -= payload.length;
    if (inFlightBytes > IN_FLIGHT_MAX_BYTES) return;
    const released = waiting;
    waiting = [];
    for (const release of released) release();
  };

  return {
    async start(receiver, others) {
      peers = others ?? null;
      client = connect(options.url, {
        clientId: `${options.name}-${randomUUID()}`,
        protocolVersion: 4,
        clean: true,
        keepalive: KEEPALIVE_SECONDS,
        connectTimeout: CONNECT_TIMEOUT_MS,
        // Ours waits longer each time, and by the clock that was passed in.
        reconnectPeriod: 0,
        queueQoSZero: false,
        ...(peers ? { will: { topic: COLLECTOR_LOST_TOPIC, payload: Buffer.from(options.name), qos: QOS, retain: false } } : {}),
        ...(options.tls ? { ca: options.tls.ca, key: options.tls.key, cert: options.tls.certificate, rejectUnauthorized: true } : {}),
      });
      const own = client;
      // Called for each message before it is answered; the next is read only after `done`.
      own.handleMessage = (packet, done) => {
        take(receiver, packet).catch(
          (error: unknown) => log.error({ topic: packet.topic, reason: describeError(error) }, "a message could not be processed"),
        );
        if (inFlightBytes <= IN_FLIGHT_MAX_BYTES) done();
        else waiting.push(() => done());
      };
      own.on("connect", () => {
        // An acknowledgement waits for no other.
        if ("setNoDelay" in own.stream) (own.stream as Socket).setNoDelay(true);
        subscribe(own).catch((error: unknown) => {
          lastFault = describeError(error);
          own.stream.destroy();
        });
      });
      own.on("error", (error) => {
        lastFault = error.message;
      });
      own.on("close", retry);
      return Promise.resolve();
    },
    async publish(probe, channel, payload, { retain }) {
      if (!client || !isReady) throw new Error(`the broker is not connected: ${lastFault}`);
      const sent = client.publishAsync(probeTopic(probe.tenantId, probe.probeId, channel), payload, { qos: QOS, retain });
      let abandon: (error: Error) => void = () => {};
      const lost = new Promise<never>((_, reject) => {
        abandon = reject;
        unanswered.add(abandon);
      });
      await Promise.race([sent, lost]).finally(() => unanswered.delete(abandon));
    },
    announce(tenantId) {
      if (toAnnounce.size === 0) clock.after(ANNOUNCE_AFTER_MS, announceAll);
      toAnnounce.add(tenantId);
    },
    announceAccess(tenantId) {
      if (!isReady) return;
      client?.publish(accessTopic(tenantId), `${options.name} ${signAccess(tenantId, options.name)}`, { qos: QOS }, (error) => {
        if (error) log.debug({ reason: error.message }, "cannot notify other collectors of a change of access");
      });
    },
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
