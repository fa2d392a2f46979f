import type { Duplex } from "node:stream";
import { PROBE_CHANNELS, type ProbeChannel, probeTopic } from "@lanthorn/contract";
import type { Client } from "aedes";
import type { PeerIdentity } from "../certificates/peer.ts";
import type { DownChannel, UpChannel } from "./broker.ts";
import type { GatedStream } from "./gated-stream.ts";

/** A probe's one connection while it lasts. */
export interface Session extends PeerIdentity {
  /** What it is read from and written to. */
  readonly connection: GatedStream;
  /** Known once the probe has been admitted. */
  tenantId: string | null;
  /** The channels of its own topics, from when it was let in under its own name. */
  channels: ReadonlyMap<string, ProbeChannel>;
  /** The library's part of it, from when it was handed over. */
  client: Client | null;
  /** Topics that it is subscribed to. */
  readonly topics: Set<string>;
}

const NO_CHANNELS: Session["channels"] = new Map();
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
    session.connection.stream.destroy();
  };
  return {
    open(connection, identity) {
      const { stream } = connection;
      const session: Session = { ...identity, connection, tenantId: null, channels: NO_CHANNELS, client: null, topics: new Set() };
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

/** A probe's topics with their channels. */
export function channelsOf(tenantId: string, probeId: string): Session["channels"] {
  const channels = Object.keys(PROBE_CHANNELS) as ProbeChannel[];
  return new Map(channels.map((channel) => [probeTopic(tenantId, probeId, channel), channel]));
}

/** @returns The channel, when the topic is one of the session's own that a probe may publish to. */
export function ownUpChannel(session: Session | undefined, topic: string): UpChannel | null {
  const channel = session?.channels.get(topic);
  return channel !== undefined && PROBE_CHANNELS[channel] === "up" ? (channel as UpChannel) : null;
}

/** @returns The channel, when the topic is one of the session's own that a probe may subscribe to. */
export function ownDownChannel(session: Session | undefined, topic: string): DownChannel | null {
  const channel = session?.channels.get(topic);
  return channel !== undefined && PROBE_CHANNELS[channel] === "down" ? (channel as DownChannel) : null;
}
