import type { Duplex } from "node:stream";
import { parseProbeTopic, PROBE_CHANNELS } from "@lanthorn/contract";
import type { Client } from "aedes";
import type { PeerIdentity } from "../certificates/peer.ts";
import type { DownChannel, UpChannel } from "./broker.ts";
import type { GatedStream } from "./gated-stream.ts";

/** A probe's one connection while it lasts. */
export interface Session extends PeerIdentity {
  readonly stream: Duplex;
  /** See `GatedStream`. */
  readonly hold: () => () => void;
  /** Ends of the holds of what it has published and is not yet being received. */
  readonly holds: (() => void)[];
  /** Known once the probe has been admitted. */
  tenantId: string | null;
  /** The library's part of it, from when it was handed over. */
  client: Client | null;
  /** Topics that it is subscribed to. */
  readonly topics: Set<string>;
}

/** A probe that reconnects while its old connections are not yet known to be dead. */
const SESSIONS_PER_PROBE = 4;

/** The probes' connections to the embedded broker. One is known until its stream has closed, also after its session ended. */
export interface Sessions {
  /** Begins a session; the oldest of a probe that has too many ends. */
  open(connection: GatedStream, identity: PeerIdentity): Session;
  /** The session of a connection, also after its end. */
  of(stream: Duplex): Session | undefined;
  /** The open ones of a probe, the oldest first. */
  ofProbe(probeId: string): Iterable<Session>;
  /** Ends all sessions that `which` picks. */
  end(which: (session: Session) => boolean): void;
  /** Sessions of admitted probes. */
  count(): number;
}

/** Sessions in memory: a broker's own, and gone with it. */
export function createSessions(): Sessions {
  const open = new Set<Session>();
  const byProbe = new Map<string, Set<Session>>();
  // Outlives the connection: the last will is judged after it.
  const byStream = new WeakMap<Duplex, Session>();
  const forget = (session: Session) => {
    open.delete(session);
    const own = byProbe.get(session.probeId);
    own?.delete(session);
    if (own?.size === 0) byProbe.delete(session.probeId);
  };
  const end = (session: Session) => {
    forget(session);
    session.stream.destroy();
  };
  return {
    open(connection, identity) {
      const { stream } = connection;
      const session: Session = { ...identity, stream, hold: () => connection.hold(), holds: [], tenantId: null, client: null, topics: new Set() };
      byStream.set(stream, session);
      open.add(session);
      stream.once("close", () => forget(session));
      const own = byProbe.get(identity.probeId) ?? new Set();
      byProbe.set(identity.probeId, own.add(session));
      [...own].slice(0, -SESSIONS_PER_PROBE).forEach(end);
      return session;
    },
    of: (stream) => byStream.get(stream),
    ofProbe: (probeId) => byProbe.get(probeId) ?? [],
    end(which) {
      [...open].filter(which).forEach(end);
    },
    count: () => [...open].filter((session) => session.tenantId !== null).length,
  };
}

/** @returns The channel, when the topic is one of the session's own that a probe may publish to. */
export function ownUpChannel(session: Session | undefined, topic: string): UpChannel | null {
  const channel = ownChannel(session, topic);
  return channel !== null && PROBE_CHANNELS[channel] === "up" ? (channel as UpChannel) : null;
}

/** @returns The channel, when the topic is one of the session's own that a probe may subscribe to. */
export function ownDownChannel(session: Session | undefined, topic: string): DownChannel | null {
  const channel = ownChannel(session, topic);
  return channel !== null && PROBE_CHANNELS[channel] === "down" ? (channel as DownChannel) : null;
}

function ownChannel(session: Session | undefined, topic: string): UpChannel | DownChannel | null {
  const parsed = parseProbeTopic(topic);
  return session && parsed && parsed.probeId === session.probeId && parsed.tenantId === session.tenantId ? parsed.channel : null;
}
