import type { CapturedFrame } from "@lanthorn/packet-io";
import {
  type ArpPacket, decodeArp, type Decoded, decodeDhcp, decodeDns, decodeFrame, decodeIcmpv6, type DhcpMessage, type DnsMessage, type Frame, type Icmpv6Message,
} from "@lanthorn/packets";
import { describeError, type Log } from "@lanthorn/runtime";
import type { BusClock } from "./bus-clock.ts";

/** A captured frame, decoded once for all modules. Nothing of it is kept after the call that brings it, but for copies. */
export interface BusFrame extends CapturedFrame {
  /** The headers; decoded when the first module asks. */
  decoded(): Decoded<Frame>;
  /** The packet of a frame whose headers say that it is one of ARP; decoded when the first module asks. */
  arp(): Decoded<ArpPacket>;
  /** The message of a frame whose headers say that it is one of ICMPv6; decoded when the first module asks. */
  icmpv6(): Decoded<Icmpv6Message>;
  /** What a datagram carries, read as DHCPv4; decoded when the first module asks. */
  dhcp(): Decoded<DhcpMessage>;
  /** What a datagram carries, read as DNS; decoded when the first module asks. */
  dns(): Decoded<DnsMessage>;
}

/** A part of the probe that hears the link. Each gets what it needs when it is made, the bus's clock as its only time. */
export interface BusModule {
  readonly name: string;
  /** Takes up what an earlier run knew. */
  start?(): void;
  onFrame?(frame: BusFrame): void;
  /** Twice a second. @param now Monotonic milliseconds of the bus's clock. */
  tick?(now: number): void;
  /** Writes down what is not yet written, and stops its timers. */
  close?(): void | Promise<void>;
}

/** Hands frames and time to its modules, in their order. */
export interface FrameBus {
  onFrames(batch: readonly CapturedFrame[]): void;
  start(): void;
  /** No module hears anything after this; each is closed by whoever made it. */
  close(): void;
}

/** Often enough that a name or an answer is reported well within a second. */
export const TICK_MS = 500;
/** Different faults that are logged. */
const MAX_LOGGED = 100;

/** A fault in one module costs the others nothing: it is logged, once for each module and text, and the module goes on. */
export function createFrameBus(deps: {
  readonly modules: readonly BusModule[];
  readonly clock: BusClock;
  readonly log: Pick<Log, "error">;
}): FrameBus {
  const { modules, clock, log } = deps;
  const listeners = modules.filter(({ onFrame }) => onFrame !== undefined);
  const logged = new Set<string>();
  let stop = () => {};
  let isOpen = true;

  const logFault = ({ name }: BusModule, error: unknown) => {
    const reason = describeError(error);
    const key = `${name} ${reason}`;
    if (logged.has(key) || logged.size >= MAX_LOGGED) return;
    logged.add(key);
    log.error({ module: name, reason }, "a module of the frame bus failed");
  };
  const hear = (frame: BusFrame) => {
    for (const module of listeners) {
      try {
        module.onFrame?.(frame);
      } catch (error) {
        logFault(module, error);
      }
    }
  };
  const tick = () => {
    for (const module of modules) {
      try {
        module.tick?.(clock.monotonic());
      } catch (error) {
        logFault(module, error);
      }
    }
  };
  return {
    onFrames(batch) {
      if (!isOpen) return;
      for (const captured of batch) {
        clock.enter(captured.atMicroseconds);
        hear(toBusFrame(captured));
      }
      clock.leave();
    },
    start() {
      for (const module of modules) module.start?.();
      stop = clock.every(TICK_MS, tick);
    },
    close() {
      isOpen = false;
      stop();
    },
  };
}

/** Gives a captured frame what modules share of it. */
export function toBusFrame({ atMicroseconds, bytes, wireLength }: CapturedFrame): BusFrame {
  return new SharedFrame(atMicroseconds, bytes, wireLength);
}

/** A class, because a frame a microsecond is made: closures cost twice as much. */
class SharedFrame implements BusFrame {
  readonly atMicroseconds: number;
  readonly bytes: Uint8Array;
  readonly wireLength: number;
  private frame: Decoded<Frame> | null = null;
  /** Of one frame, one of these is asked for. */
  private packet: Decoded<ArpPacket> | null = null;
  private icmp: Decoded<Icmpv6Message> | null = null;
  private dhcpMessage: Decoded<DhcpMessage> | null = null;
  private dnsMessage: Decoded<DnsMessage> | null = null;

  constructor(atMicroseconds: number, bytes: Uint8Array, wireLength: number) {
    this.atMicroseconds = atMicroseconds;
    this.bytes = bytes;
    this.wireLength = wireLength;
  }

  decoded(): Decoded<Frame> {
    this.frame ??= decodeFrame(this.bytes, this.wireLength > this.bytes.length ? { wireLength: this.wireLength } : undefined);
    return this.frame;
  }

  arp(): Decoded<ArpPacket> {
    if (this.packet !== null) return this.packet;
    const frame = this.decoded();
    this.packet = frame.ok ? decodeArp(frame.value.networkBytes) : frame;
    return this.packet;
  }

  icmpv6(): Decoded<Icmpv6Message> {
    if (this.icmp !== null) return this.icmp;
    const frame = this.decoded();
    this.icmp = frame.ok ? decodeIcmpv6(frame.value.transportBytes) : frame;
    return this.icmp;
  }

  dhcp(): Decoded<DhcpMessage> {
    if (this.dhcpMessage !== null) return this.dhcpMessage;
    const frame = this.decoded();
    this.dhcpMessage = frame.ok ? decodeDhcp(frame.value.payload) : frame;
    return this.dhcpMessage;
  }

  dns(): Decoded<DnsMessage> {
    if (this.dnsMessage !== null) return this.dnsMessage;
    const frame = this.decoded();
    this.dnsMessage = frame.ok ? decodeDns(frame.value.payload) : frame;
    return this.dnsMessage;
  }
}
