import type { ArpPacket, DhcpMessage, Frame, NdpMessage } from "@lanthorn/packets";
import type { BusFrame } from "../bus/frame-bus.ts";
import type { LinkFacts } from "../capture/link.ts";
import type { DirectedProbes } from "./directed-probes.ts";
import type { IncidentRegister } from "./incidents/incident-register.ts";
import type { LearnedStore } from "./learned/learned-store.ts";
import type { LearningPeriod } from "./learned/learning-period.ts";
import type { GuardSettings } from "./settings.ts";

/** A frame as guards hear it. Nothing of it is kept after the call, but for copies. */
export interface GuardFrame {
  readonly captured: BusFrame;
  readonly frame: Frame;
}

/**
 * A detector on the link. Each kind of packet is decoded once for all guards, and only what can be decoded reaches them. Time is the
 * bus's: a capture file shows what the link showed.
 */
export interface Guard {
  /** The heading in the README that explains it. */
  readonly name: string;
  /** Ethernet and IPv4 only. */
  onArp?(packet: ArpPacket, at: GuardFrame): void;
  /** With the hop limit of 255 that shows that it comes from the link. @see RFC 4861 section 3.1 */
  onNdp?(message: NdpMessage, at: GuardFrame): void;
  /** DHCPv4, to or from a server. */
  onDhcp?(message: DhcpMessage, at: GuardFrame): void;
  /** UDP datagrams that are no DHCPv4: DHCPv6, LLMNR, NBT-NS, Multicast DNS. `frame.payload` has what they carry. */
  onUdp?(at: GuardFrame): void;
  /** Frames without IP and ARP: spanning tree, LLDP, CDP, DTP, and frames with two VLAN tags whatever they carry. */
  onLink?(at: GuardFrame): void;
  /** Every frame. It must cost next to nothing. */
  onAny?(at: GuardFrame): void;
  /** A frame of Ethernet whose headers go beyond its end, as some tools forge them: of it only the MAC addresses can be read. */
  onUnreadable?(captured: BusFrame): void;
  /**
   * Whether it must hear an ARP answer though a search of the probe's own takes it and leaves it out of the capture: one that contradicts what
   * is known. It is called for each answer of a large search. @param bytes The frame, Ethernet without a tag; nothing of it is kept.
   */
  needsAnswer?(bytes: Uint8Array): boolean;
  /** Twice a second. @param now Monotonic milliseconds. */
  tick?(now: number): void;
  /** What it takes for normal now: servers, routers and the like. */
  learned?(): readonly LearnedRow[];
}

/** One thing that a guard takes for normal, for people to read. */
export interface LearnedRow {
  readonly guard: string;
  /** What it is: `dhcp_server`, `router`. */
  readonly what: string;
  /** By which it is known among those: an address, a DUID. */
  readonly name: string;
  readonly macs: readonly string[];
  readonly vlanId: number | null;
  /** What else is known of it, by name. */
  readonly facts: Readonly<Record<string, string>>;
}

/** What a guard is made with. */
export interface GuardDeps {
  readonly clock: { now(): number; monotonic(): number };
  /** Calls `task` once after `delayMs`, for what must not wait for a tick; not while the guards are off. @returns What cancels it. */
  readonly after: (delayMs: number, task: () => void) => () => void;
  readonly incidents: Pick<IncidentRegister, "report" | "end" | "isOpen" | "hasMany" | "isAnyOpen">;
  readonly learned: LearnedStore;
  readonly learning: LearningPeriod;
  /** The settings now: the file's and those that the collector pushed. */
  readonly settings: () => GuardSettings;
  /** Our own interface; null while there is none. A replay has no addresses of its own unless the settings name networks. */
  readonly link: () => LinkFacts | null;
  /** Sends, where the settings allow it. What it brings comes as frames; a guard that hears none decides by what it has seen. */
  readonly probes: DirectedProbes;
  /** In [0, 1). */
  readonly random: () => number;
}
