import type { PROBE_CHANNELS, ProbeChannel } from "@lanthorn/contract";

type Direction<D extends "up" | "down"> = { [C in ProbeChannel]: (typeof PROBE_CHANNELS)[C] extends D ? C : never }[ProbeChannel];
/** What a probe may publish to. */
export type UpChannel = Direction<"up">;
/** What a probe may subscribe to. */
export type DownChannel = Direction<"down">;

/** A probe as the broker knows it: the identity in its certificate and the tenant that it was enrolled for. */
export interface ProbeAddress {
  readonly tenantId: string;
  readonly probeId: string;
}

/** A payload from a probe, as it arrived. */
export interface ProbeMessage extends ProbeAddress {
  readonly channel: UpChannel;
  readonly payload: Buffer;
  /** Kept by the broker from earlier: it says how things stood, not that the probe is there now. */
  readonly retained: boolean;
}

/** Why a payload was not taken; counted for each probe and shown in its record. */
export type RefusalReason =
  | "not-a-batch" | "too-large" | "gap" | "unreadable-event" | "wrong-topic" | "wrong-client-id" | "not-a-status" | "not-a-health"
  | "not-a-reply" | "queue-limit" | "quota" | "qos-2";

/** Where the broker brings what it gets. */
export interface ProbeReceiver {
  /**
   * Takes one payload. Until the promise settles the broker reads no more than one socket buffer further from that
   * probe, so a probe cannot send faster than its events are committed. Never rejects.
   */
  receive(message: ProbeMessage): Promise<void>;
  /**
   * A payload that the broker itself did not take. The session goes on.
   * @param channel Where it was meant for; null when that is no channel of this probe's own.
   */
  refused(probe: ProbeAddress, reason: RefusalReason, channel: UpChannel | null): void;
}

/** What collectors at one broker tell each other. */
export interface Peers {
  /** Another one has committed events of the tenant. */
  committed(tenantId: string): void;
  /** Another one has ended or reduced what somebody of the tenant may do: open streams are to be checked. */
  accessChanged(tenantId: string): void;
  /** Another one is gone without a disconnect, and what it took but did not commit is lost. One of those that are left is notified. */
  lost(): void;
}

/** The way between probes and this process; MQTT 3.1.1 in both kinds. */
export interface Broker {
  /**
   * Begins to take probes' messages. An external broker that is away is no error: it is tried again.
   * @param peers Where there can be other collectors at the broker.
   * @throws CollectorError `listen-failed`.
   */
  start(receiver: ProbeReceiver, peers?: Peers): Promise<void>;
  /**
   * Sends to one of a probe's own topics. Resolves when the broker has taken it; a probe that is not connected gets it only when
   * `retain` is set. QoS 1, but for acknowledgements from our own broker, which the probe does not confirm. Rejects while an external
   * broker is away.
   */
  publish(probe: ProbeAddress, channel: DownChannel, payload: string, options: { readonly retain: boolean }): Promise<void>;
  /** Tells other collectors, soon, that events of the tenant are committed. A hint: it may be lost, and says it once for many. */
  announce(tenantId: string): void;
  /** Tells other collectors at once that somebody of the tenant may do less than before. It may be lost. */
  announceAccess(tenantId: string): void;
  /**
   * Ends a probe's live sessions, if the broker is our own.
   * @param options.except The key (SubjectPublicKeyInfo in Base64) whose sessions stay.
   */
  disconnect(probeId: string, options?: { readonly except?: string }): void;
  /** Sessions of probes that are open; null where an external broker keeps them. */
  sessions(): number | null;
  health(): { readonly status: "ok" | "degraded"; readonly detail: string };
  close(): Promise<void>;
}
