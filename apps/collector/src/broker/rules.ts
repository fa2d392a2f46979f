import { PAYLOAD_MAX_BYTES } from "@lanthorn/contract";
import { describeError, type Log } from "@lanthorn/runtime";
import type { AedesOptions, AuthenticateError, Client } from "aedes";
import type { ProbeReceiver, RefusalReason, UpChannel } from "./broker.ts";
import { ownDownChannel, ownUpChannel, type Session, type Sessions } from "./sessions.ts";

const CONNECT_TIMEOUT_MS = 10_000;
/** A session without this is never known to be dead. */
const MAX_KEEPALIVE_SECONDS = 300;
/** How long a probe may leave its acknowledgements unread. */
const DRAIN_TIMEOUT_MS = 20_000;
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

/** @returns Why a PUBLISH of this session is not taken; null for one that is. */
export function judge(session: Session | undefined, topic: string | null, payloadBytes: number, qos: number): Refused | null {
  const channel = topic === null ? null : ownUpChannel(session, topic);
  if (channel === null) return { reason: "wrong-topic", channel };
  if (payloadBytes > PAYLOAD_MAX_BYTES) return { reason: "too-large", channel };
  // Kept in memory until its sender says that it may go, which it need never do.
  return qos > 1 ? { reason: "qos-2", channel } : null;
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
    if (clientId === session.probeId) return null;
    refuse(session, "wrong-client-id", null);
    return IDENTIFIER_REJECTED;
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
    // The gate has taken out every PUBLISH that is not allowed; what is left to judge here is a last will.
    authorizePublish(client, packet, done) {
      const session = sessionOf(client);
      packet.retain = false;
      if (packet.topic === DEAD_TOPIC) return done();
      if (session && ownUpChannel(session, packet.topic)) {
        // From before its PUBACK is written, which so leaves together with what `receive` answers.
        session.holds.push(session.hold());
        return done();
      }
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
      // None for what `authorizePublish` did not hold: a refused one lets go of no other.
      const release = channel ? session?.holds.pop() : undefined;
      if (!to || !session?.tenantId || !channel) {
        release?.();
        return done();
      }
      const payload = typeof packet.payload === "string" ? Buffer.from(packet.payload) : packet.payload;
      const { tenantId, probeId } = session;
      void (async () => {
        await to.receive({ tenantId, probeId, channel, payload, retained: false });
        release?.();
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
