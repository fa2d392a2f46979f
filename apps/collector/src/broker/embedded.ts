import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { PAYLOAD_MAX_BYTES, probeTopic } from "@lanthorn/contract";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { Aedes, type AedesOptions, type AuthenticateError, type Client } from "aedes";
import { peerIdentity } from "../certificates/peer.ts";
import type { ServerCertificate } from "../certificates/server-certificate.ts";
import { CollectorError } from "../errors.ts";
import { createConnections } from "../gateway/connections.ts";
import type { Broker, ProbeReceiver, RefusalReason, UpChannel } from "./broker.ts";
import { createGate } from "./gate.ts";
import { gateStream } from "./gated-stream.ts";
import { createSessions, ownDownChannel, ownUpChannel, type Session, type Sessions } from "./sessions.ts";

export interface EmbeddedBrokerOptions {
  readonly host: string;
  /** 0 for any free one; `port()` tells it. */
  readonly port: number;
  readonly certificate: Pick<ServerCertificate, "current" | "onChange">;
  /** The authority whose client certificates are let in, PEM. */
  readonly clientCa: string;
  /** The tenant of a probe that may come in with this key; null for one that is revoked or unknown, and for a superseded key. */
  readonly admit: (probeId: string, publicKey: string) => Promise<{ readonly tenantId: string } | null>;
  readonly clock: Clock;
  readonly log: Log;
  /** Connections in all, and from one address, or one /64, before they have shown a certificate. */
  readonly limits: { readonly connections: number; readonly strangersPerAddress: number };
  /** Addresses and prefixes of load balancers, which may bring any number of strangers. */
  readonly trustedProxies: readonly string[];
}

/** The broker inside the collector's own process, and the port that it listens on. */
export interface EmbeddedBroker extends Broker {
  port(): number;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** A session without this is never known to be dead. */
const LONGEST_KEEPALIVE_SECONDS = 300;
/** How long a probe may leave its acknowledgements unread. */
const DRAIN_TIMEOUT_MS = 20_000;
const EXPIRY_CHECK_MS = 60_000;
/** Where refused payloads go. No probe may publish or subscribe to it, and nobody reads it. */
const DEAD_TOPIC = "refused";
/** Return codes of CONNACK. @see MQTT 3.1.1 section 3.2.2.3 */
const IDENTIFIER_REJECTED = 2;
const SERVER_UNAVAILABLE = 3;
const NOT_AUTHORIZED = 5;

type Refuse = (session: Session | undefined, reason: RefusalReason, channel: UpChannel | null) => void;

/**
 * A broker over TLS that lets in only certificates of `clientCa`, under the identity that they name: a probe may publish to
 * its own up topics and subscribe to its own down topics, and nothing else. Nothing is kept over a restart: what a probe must
 * have is published again when it says that it is online.
 */
export function createEmbeddedBroker(options: EmbeddedBrokerOptions): EmbeddedBroker {
  const { limits, trustedProxies, clock } = options;
  const connections = createConnections({
    // Probes of many sites may share an address: those that are known are bounded by how many there are of each probe.
    limits: { ...limits, total: limits.connections, perAddress: limits.connections, perProxy: limits.connections },
    trustedProxies, clock,
  });
  const sessions = createSessions();
  const openSockets = new Set<Socket>();
  let receiver: ProbeReceiver | null = null;
  let server: Server | null = null;
  let aedes: Aedes | null = null;
  let stopExpiryCheck = () => {};

  const refuse: Refuse = (session, reason, channel) => {
    if (session?.tenantId) receiver?.refused({ tenantId: session.tenantId, probeId: session.probeId }, reason, channel);
  };
  const onSecureConnection = (socket: TLSSocket) => {
    const identity = peerIdentity(socket);
    if (!identity || !aedes) return void socket.destroy();
    const connection = gateStream<Refused>(socket, {
      gate: createGate<Refused>({ deadTopic: DEAD_TOPIC, judge: (...publish) => judge(session, ...publish) }),
      onRefusal: ({ reason, channel }) => refuse(session, reason, channel),
      onFault: (fault) => options.log.warn({ probe_id: identity.probeId, fault }, "connection of a probe ended: what it sends is not MQTT"),
    });
    // Known before it is admitted, so that a revocation at this moment finds it.
    const session = sessions.open(connection, identity);
    aedes.handle(connection.stream);
    return undefined;
  };
  const listen = async () => {
    const { key, certificate: cert } = options.certificate.current();
    const listener = createServer({
      key, cert, ca: options.clientCa, requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.2",
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      // A packet's two answers, the broker's and ours, are small: the second would wait 40 ms for the probe to confirm the first.
      noDelay: true,
    });
    listener.on("connection", (socket: Socket) => {
      openSockets.add(socket);
      socket.once("close", () => openSockets.delete(socket));
    });
    connections.guard(listener);
    listener.on("secureConnection", (socket: TLSSocket) => {
      const connection = connections.of(socket);
      connection.known();
      connection.begin();
      onSecureConnection(socket);
    });
    listener.on("tlsClientError", (error: Error, socket: TLSSocket) => {
      options.log.debug({ address: socket.remoteAddress, reason: error.message }, "TLS handshake refused");
    });
    options.certificate.onChange(
      (renewed) => listener.setSecureContext({ key: renewed.key, cert: renewed.certificate, ca: options.clientCa }),
    );
    try {
      listener.listen(options.port, options.host);
      await once(listener, "listening");
    } catch (cause) {
      throw new CollectorError("listen-failed", `cannot listen for probes on ${options.host}:${options.port}`, { cause });
    }
    listener.on("error", (error) => options.log.error({ reason: error.message }, "the probes' listener has a fault"));
    return listener;
  };

  return {
    async start(to) {
      receiver = to;
      aedes = await Aedes.createBroker(rules({ sessions, refuse, admit: options.admit, log: options.log, receiver: () => receiver }));
      aedes.on("clientError", (client, error) => options.log.debug({ probe_id: client.id, reason: error.message }, "session ended"));
      aedes.on("connectionError", (_client, error) => options.log.debug({ reason: error.message }, "connection ended before a session"));
      server = await listen();
      stopExpiryCheck = options.clock.every(EXPIRY_CHECK_MS, () => sessions.end((session) => session.expiresAt <= options.clock.now()));
    },
    publish: (probe, channel, payload, { retain }) => new Promise((resolve, reject) => {
      if (!aedes || aedes.closed) return reject(new Error("the broker is closed"));
      const topic = probeTopic(probe.tenantId, probe.probeId, channel);
      return aedes.publish({ cmd: "publish", topic, payload, qos: 1, retain, dup: false }, (error) => (error ? reject(error) : resolve()));
    }),
    // It serves this process alone.
    announce: () => {},
    announceAccess: () => {},
    disconnect: (probeId, { except } = {}) =>
      sessions.end((session) => session.probeId === probeId && session.publicKey !== except),
    sessions: () => sessions.count(),
    health() {
      if (!server?.listening) return { status: "degraded", detail: "not listening" };
      return { status: "ok", detail: `${sessions.count()} probes connected` };
    },
    port: () => (server?.address() as AddressInfo | null)?.port ?? options.port,
    async close() {
      stopExpiryCheck();
      // The last wills of sessions that we end ourselves say nothing about the probes.
      receiver = null;
      const closed = server?.listening ? once(server, "close") : null;
      server?.close();
      await new Promise<void>((resolve) => (aedes ? aedes.close(resolve) : resolve()));
      sessions.end(() => true);
      for (const socket of openSockets) socket.destroy();
      await closed;
    },
  };
}

interface Refused {
  readonly reason: RefusalReason;
  readonly channel: UpChannel | null;
}

function judge(session: Session | undefined, topic: string | null, payloadBytes: number, qos: number): Refused | null {
  const channel = topic === null ? null : ownUpChannel(session, topic);
  if (channel === null) return { reason: "wrong-topic", channel };
  if (payloadBytes > PAYLOAD_MAX_BYTES) return { reason: "too-large", channel };
  // Kept in memory until its sender says that it may go, which it need never do.
  return qos > 1 ? { reason: "qos-2", channel } : null;
}

function rules({ sessions, refuse, admit, log, receiver }: {
  readonly sessions: Sessions;
  readonly refuse: Refuse;
  readonly admit: EmbeddedBrokerOptions["admit"];
  readonly log: Log;
  readonly receiver: () => ProbeReceiver | null;
}): AedesOptions {
  const sessionOf = (client: Client | null) => (client === null ? undefined : sessions.of(client.conn));
  /** @returns Null for a probe that may come in. */
  const refusalCode = async (session: Session | undefined, clientId: string): Promise<number | null> => {
    if (!session) return NOT_AUTHORIZED;
    try {
      const admitted = await admit(session.probeId, session.publicKey);
      if (!admitted) return NOT_AUTHORIZED;
      session.tenantId = admitted.tenantId;
    } catch (error) {
      log.error({ probe_id: session.probeId, reason: describeError(error) }, "a probe could not be admitted");
      return SERVER_UNAVAILABLE;
    }
    if (clientId === session.probeId) return null;
    refuse(session, "wrong-client-id", null);
    return IDENTIFIER_REJECTED;
  };
  return {
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepaliveLimit: LONGEST_KEEPALIVE_SECONDS,
    drainTimeout: DRAIN_TIMEOUT_MS,
    maxTopicLevels: 8,
    // What the gate refuses of QoS 2 is kept too, empty: a second one that its sender does not release ends the connection.
    maxInflightInbound: 1,
    preConnect(_client, packet, done) {
      // A kept session would let a probe that never comes back collect messages in our memory.
      packet.clean = true;
      done(null, true);
    },
    authenticate(client, _username, _password, done) {
      void (async () => {
        const code = await refusalCode(sessionOf(client), client.id);
        if (code === null) done(null, true);
        else done(connectError(code), false);
      })();
    },
    // The gate has taken out every PUBLISH that is not allowed; what is left to judge here is a last will.
    authorizePublish(client, packet, done) {
      const session = sessionOf(client);
      packet.retain = false;
      if (packet.topic === DEAD_TOPIC || ownUpChannel(session, packet.topic)) return done();
      refuse(session, "wrong-topic", null);
      return done(new Error("not this probe's own topic"));
    },
    authorizeSubscribe(client, subscription, done) {
      const session = sessionOf(client);
      const isOwn = ownDownChannel(session, subscription.topic) !== null;
      if (!isOwn) refuse(session, "wrong-topic", null);
      done(null, isOwn ? subscription : null);
    },
    published(packet, client, done) {
      const session = sessionOf(client);
      const channel = ownUpChannel(session, packet.topic);
      const to = receiver();
      if (!to || !session?.tenantId || !channel) return done();
      const payload = typeof packet.payload === "string" ? Buffer.from(packet.payload) : packet.payload;
      const release = session.hold();
      const { tenantId, probeId } = session;
      void (async () => {
        await to.receive({ tenantId, probeId, channel, payload, retained: false });
        release();
        done();
      })();
      return undefined;
    },
  };
}

function connectError(returnCode: number): AuthenticateError {
  // The library's own names for these numbers are a const enum, which does not exist where modules are compiled one by one.
  const error: unknown = Object.assign(new Error(`the probe is not let in (${returnCode})`), { returnCode });
  return error as AuthenticateError;
}
