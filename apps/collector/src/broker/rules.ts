import { PAYLOAD_MAX_BYTES } from "@lanthorn/contract";
import { describeError, type Log } from "@lanthorn/runtime";
import type { AedesOptions, AuthenticateError, Client } from "aedes";
import type { ProbeReceiver, RefusalReason, UpChannel } from "./broker.ts";
import type { TakenPublish, Verdict } from "./gate.ts";
import { DRAIN_TIMEOUT_MS } from "./gated-stream.ts";
import { encodePubAck } from "./mqtt-packets.ts";
import { channelsOf, ownDownChannel, ownUpChannel, type Session, type Sessions } from "./sessions.ts";

const CONNECT_TIMEOUT_MS = 10_000;
/** A session without this is never known to be dead. */
const MAX_KEEPALIVE_SECONDS = 300;
/** Where refused payloads go. No probe may publish or subscribe to it, and nobody reads it. */
export const DEAD_TOPIC = "refused";
/** Return codes of CONNACK. @see MQTT 3.1.1 section 3.2.2.3 */
const IDENTIFIER_REJECTED = 2;
const SERVER_UNAVAILABLE = 3;
const NOT_AUTHORIZED = 5;

/** The tenant of a probe that may come in with this key; null for one that is revoked or unknown, and for a superseded key. */
export type Admit = (probeId: string, publicKey: string) => Promise<{ readonly tenantId: string } | null>;

/** Is called for what a session may not send. */
export type Refuse = (session: Session | undefined, reason: RefusalReason, channel: UpChannel | null) => void;

/** Why a PUBLISH does not pass the gate, and where it was meant for. */
export interface Refused {
  readonly reason: RefusalReason;
  readonly channel: UpChannel | null;
}

/** What becomes of a PUBLISH of this session: a probe's own up topics are taken, before it is let in there are none. */
export function judge(
  session: Session | undefined, topic: string | null, payloadBytes: number, qos: number,
): Verdict<UpChannel, Refused> {
  const channel = topic === null ? null : ownUpChannel(session, topic);
  if (channel === null) return { refused: { reason: "wrong-topic", channel } };
  if (payloadBytes > PAYLOAD_MAX_BYTES) return { refused: { reason: "too-large", channel } };
  // Kept in memory until its sender says that it may go, which it need never do.
  return qos > 1 ? { refused: { reason: "qos-2", channel } } : { taken: channel };
}

/**
 * Brings what the gate took to its receiver: it is confirmed at once, and what the receiver answers leaves together with that. Until it has
 * been received the session is read no further.
 */
export function takePublish(
  session: Session, channel: UpChannel, { payload, identifier }: TakenPublish, to: ProbeReceiver | null,
): void {
  const { connection, client, tenantId, probeId } = session;
  if (client) keepAlive(client);
  const release = connection.hold();
  if (identifier !== null) connection.send(encodePubAck(identifier));
  if (!to || tenantId === null) return release();
  void to.receive({ tenantId, probeId, channel, payload, retained: false }).then(release);
  return undefined;
}

/** aedes ends a session of which it hears nothing, and what the gate takes it does not hear. */
function keepAlive(client: Client): void {
  const { _keepaliveTimer: timer } = client as Client & { readonly _keepaliveTimer?: NodeJS.Timeout | null };
  timer?.refresh();
}

/** What aedes asks before and after each step of a session. */
export function rules({ sessions, refuse, admit, log, receiver }: {
  readonly sessions: Sessions;
  readonly refuse: Refuse;
  readonly admit: Admit;
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
      log.error({ probe_id: session.probeId, reason: describeError(error) }, "cannot accept a probe");
      return SERVER_UNAVAILABLE;
    }
    if (clientId !== session.probeId) {
      refuse(session, "wrong-client-id", null);
      return IDENTIFIER_REJECTED;
    }
    session.channels = channelsOf(session.tenantId, session.probeId);
    return null;
  };
  return {
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepaliveLimit: MAX_KEEPALIVE_SECONDS,
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
    // The gate lets no PUBLISH through: what is left to judge here is a last will.
    authorizePublish(client, packet, done) {
      const session = sessionOf(client);
      packet.retain = false;
      if (packet.topic === DEAD_TOPIC || ownUpChannel(session, packet.topic)) return done();
      refuse(session, "wrong-topic", null);
      return done(new Error("not this probe's topic"));
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
      const { tenantId, probeId } = session;
      void (async () => {
        await to.receive({ tenantId, probeId, channel, payload, retained: false });
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
