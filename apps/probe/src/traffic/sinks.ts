import type { FrameBlock } from "@lanthorn/packet-io";

/** What takes frames, the most important first: at overload the last ones are left out first. */
export const SINK_NAMES = ["ring", "evidence", "on_demand", "flows", "inspection", "continuous"] as const;
/** One of `SINK_NAMES`. */
export type SinkName = (typeof SINK_NAMES)[number];

/** What takes blocks of frames. */
export interface Sink {
  readonly name: SinkName;
  /** Whether a part of the blocks is of use to it: at overload it is given those that there is time for. */
  readonly isDivisible?: boolean;
  /**
   * Takes the next frames of an interface, in the order of the wire. The block lies in the ring's memory: it is good during the call, copy what
   * is kept. Must not throw, and must not wait for anything.
   */
  onBlock(block: FrameBlock, interfaceId: number): void;
  /**
   * Whether it has room for a block: what waits for the disk is waited for, as far as the ring reaches. Always, unless given.
   * @param waiting Which part of the ring waits for the sinks: 0 to 1.
   */
  isReady?(waiting: number): boolean;
  /** Frames that it was not given, because of overload. */
  shed(frames: number, octets: number, interfaceId: number): void;
  /** Frames of which nobody knows more than how many there were: the kernel had no room for them, or the interface was down. */
  onMissing?(interfaceId: number, frames: number, why: string): void;
  /** Some times a second. @param now Milliseconds since the epoch. */
  tick?(now: number): void;
  close(): Promise<void>;
}
