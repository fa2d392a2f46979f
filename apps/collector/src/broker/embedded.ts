import type { TLSSocket } from "node:tls";
import { probeTopic } from "@lanthorn/contract";
import { Aedes } from "aedes";
import { peerIdentity } from "../certificates/peer.ts";
import type { Broker, ProbeAddress, ProbeReceiver, UpChannel } from "./broker.ts";
import { gateStream } from "./gated-stream.ts";
import { openProbeListener, type ProbeListener, type ProbeListenerOptions } from "./listener.ts";
import { type Admit, DEAD_TOPIC, judge, type Refuse, type Refused, rules, takePublish } from "./rules.ts";
import { encodePublish } from "./mqtt-packets.ts";
import { createSessions, type Session, type Sessions } from "./sessions.ts";

/** Where the embedded broker listens, and whom it lets in. */
export interface EmbeddedBrokerOptions extends ProbeListenerOptions {
  readonly admit: Admit;
}

/** The broker inside the collector's own process, and the port that it listens on. */
export interface EmbeddedBroker extends Broker {
  port(): number;
}

const EXPIRY_CHECK_MS = 60_000;

/**
 * A broker over TLS that lets in only certificates of `clientCa`, under the identity that they name: a probe may publish to
 * its own up topics and subscribe to its own down topics, and nothing else. Nothing is kept over a restart: what a probe must
 * have is published again when it says that it is online.
 */
export function createEmbeddedBroker(options: EmbeddedBrokerOptions): EmbeddedBroker {
  const sessions = createSessions();
  let receiver: ProbeReceiver | null = null;
  let listener: ProbeListener | null = null;
  let aedes: Aedes | null = null;
  let stopExpiryCheck = () => {};

  const refuse: Refuse = (session, reason, channel) => {
    if (session?.tenantId) receiver?.refused({ tenantId: session.tenantId, probeId: session.probeId }, reason, channel);
  };
  const onSecureConnection = (socket: TLSSocket) => {
    const identity = peerIdentity(socket);
    if (!identity || !aedes) return void socket.destroy();
    const connection = gateStream<UpChannel, Refused>(socket, {
      judge: (...publish) => judge(session, ...publish), deadTopic: DEAD_TOPIC, clock: options.clock,
      onTaken: (channel, publish) => takePublish(session, channel, publish, receiver),
      onRefusal: ({ reason, channel }) => refuse(session, reason, channel),
      onFault: (fault) => options.log.warn({ probe_id: identity.probeId, fault }, "a probe's connection was closed: it does not send MQTT"),
    });
    // Known before it is admitted, so that a revocation at this moment finds it.
    const session = sessions.open(connection, identity);
    session.client = aedes.handle(connection.stream);
    return undefined;
  };
  return {
    async start(to) {
      receiver = to;
      aedes = await Aedes.createBroker(rules({ sessions, refuse, admit: options.admit, log: options.log, receiver: () => receiver }));
      aedes.on("clientError", (client, error) => options.log.debug({ probe_id: client.id, reason: error.message }, "session ended"));
      aedes.on("connectionError", (_client, error) => options.log.debug({ reason: error.message }, "connection ended before a session"));
      trackTopics(aedes, sessions);
      listener = await openProbeListener(options, onSecureConnection);
      stopExpiryCheck = options.clock.every(EXPIRY_CHECK_MS, () => sessions.end((session) => session.expiresAt <= options.clock.now()));
    },
    publish: (probe, channel, payload, { retain }) => new Promise((resolve, reject) => {
      if (!aedes || aedes.closed) return reject(new Error("the broker is closed"));
      const topic = probeTopic(probe.tenantId, probe.probeId, channel);
      const packet = { cmd: "publish", topic, payload, qos: 1, retain, dup: false } as const;
      const done = (error?: Error | null) => (error ? reject(error) : resolve());
      if (retain) return aedes.publish(packet, done);
      // What is kept for nobody goes to nobody else: aedes would look for who else wants it, three times for each acknowledgement.
      const session = subscriberOf(sessions, probe, topic);
      if (channel !== "acks") return session?.client ? session.client.publish(packet, done) : resolve();
      // An acknowledgement is lost only with its connection, and the probe then sends its batch again: nothing confirms a confirmation.
      session?.connection.send(encodePublish(topic, payload));
      return resolve();
    }),
    // It serves this process alone.
    announce: () => {},
    announceAccess: () => {},
    disconnect: (probeId, { except } = {}) =>
      sessions.end((session) => session.probeId === probeId && session.publicKey !== except),
    sessions: () => sessions.count(),
    health() {
      if (!listener?.isListening()) return { status: "degraded", detail: "not listening" };
      return { status: "ok", detail: `${sessions.count()} probes connected` };
    },
    port: () => listener?.port() ?? options.port,
    async close() {
      stopExpiryCheck();
      // The last wills of sessions that we end ourselves say nothing about the probes.
      receiver = null;
      listener?.stop();
      await new Promise<void>((resolve) => (aedes ? aedes.close(resolve) : resolve()));
      sessions.end(() => true);
      await listener?.close();
    },
  };
}

/** Keeps for each session what it is subscribed to. */
function trackTopics(aedes: Aedes, sessions: Sessions): void {
  aedes.on("subscribe", (subscriptions, { conn }) => {
    // 128 in the place of a quality of service: it was refused.
    for (const { topic, qos } of subscriptions) if (qos <= 2) sessions.of(conn)?.topics.add(topic);
  });
  aedes.on("unsubscribe", (topics, { conn }) => {
    for (const topic of topics) sessions.of(conn)?.topics.delete(topic);
  });
}

/** The probe's session that wants the topic; aedes lets a probe have one at a time. */
function subscriberOf(sessions: Sessions, { tenantId, probeId }: ProbeAddress, topic: string): Session | null {
  for (const session of sessions.ofProbe(probeId)) {
    if (session.client && !session.client.closed && session.tenantId === tenantId && session.topics.has(topic)) return session;
  }
  return null;
}
