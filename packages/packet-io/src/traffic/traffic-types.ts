import type { OnLost, PacketIoClock } from "../capture/capture-types.ts";
import type { FrameBlock } from "./frame-block.ts";

/** How frames are read: from an AF_PACKET ring, or by libpcap. */
export type TrafficReader = "ring" | "pcap";

/** Where a block is to be copied to: `bytes` has room for it from `offset` on. */
export interface BlockPlace {
  readonly bytes: Buffer;
  /** A multiple of 8. */
  readonly offset: number;
}

/** What to read where, and who takes the frames. */
export interface TrafficCaptureOptions {
  readonly interface: string;
  /** Octets kept of each frame, 64 to 262144; a VLAN tag that the kernel took off comes on top. */
  readonly snapLength: number;
  /** Also take frames for other hosts, as on a mirror port. */
  readonly promiscuous: boolean;
  readonly clock: PacketIoClock;
  /** As pcap-filter(7) has it; every frame unless given. Tags that the kernel took off are not seen by it but through `vlan`. */
  readonly filter?: string;
  /** Asked once for each block, with the octets that it takes. */
  readonly allocate: (octets: number) => BlockPlace;
  /** Takes the blocks in the order of the wire, never while an earlier call runs. */
  readonly onBlock: (block: FrameBlock) => void;
  /** The interface went down or away, or the capture went deaf: called once, the capture is closed by then. */
  readonly onLost: OnLost;
  /** The ring unless given. */
  readonly reader?: TrafficReader;
}

/** Sums since the capture was opened. */
export interface TrafficCounters {
  /** Handed over to `onBlock`. */
  readonly frames: number;
  /** The kernel's ring was full: this process did not run for too long. */
  readonly droppedByKernel: number;
  /** The interface or its driver had no room. Counted by the interface, for all its readers. */
  readonly droppedByInterface: number;
}

/** A running capture of all traffic of an interface. */
export interface TrafficCapture {
  /** Still answers after `close` and after a loss, with the last figures. */
  counters(): TrafficCounters;
  /** Which part of the kernel's ring waits to be read: 0 to 1. At 1 frames are being dropped. */
  load(): number;
  /** After it nothing is called any more. May be called again. */
  close(): void;
}
