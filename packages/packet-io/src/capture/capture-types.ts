import type { PacketIoError } from "../errors.ts";

/** One frame as it was on the wire, or as much of it as the snap length keeps. */
export interface CapturedFrame {
  /** When the kernel saw it: microseconds since the epoch, by the wall clock. */
  readonly atMicroseconds: number;
  /**
   * The frame from the destination address on, without FCS; VLAN tags are in place. The receiver's own: nothing writes to it again.
   * Neighboring frames share its `buffer` (8 KiB live, 64 KiB from a file): copy with `slice()` what is kept for long.
   */
  readonly bytes: Uint8Array;
  /** Octets on the wire; more than `bytes.length` where the snap length cut the frame. */
  readonly wireLength: number;
}

/** Sums since the capture was opened. */
export interface CaptureCounters {
  /** Handed over to `onFrames`. */
  readonly frames: number;
  /** The kernel's ring was full: this process did not run for too long. */
  readonly droppedByKernel: number;
  /** The interface or its driver had no room. Counted by the interface, for all its readers. */
  readonly droppedByInterface: number;
  /** `onFrames` was slower than the frames came, and the bounded queue before it was full. */
  readonly droppedByReader: number;
}

/** A running capture, of an interface or of a file. */
export interface Capture {
  /** Still answers after `close` and after a loss, with the last figures. */
  counters(): CaptureCounters;
  /** After the returned promise, neither `onFrames` nor anything else is called. May be called again. */
  close(): Promise<void>;
}

/**
 * Takes the next frames in their order: 1 to 32, never while an earlier call runs. Frames that this host itself sends are among
 * them, those of an injector too; the filter `not ether src MAC` leaves them out.
 */
export type OnFrames = (batch: readonly CapturedFrame[]) => void;

/** Called at most once; the capture is closed by then. */
export type OnLost = (reason: PacketIoError) => void;

/** The part of a clock that this package needs; `Clock` of @lanthorn/runtime satisfies it. */
export interface PacketIoClock {
  /** Milliseconds that only rise. */
  monotonic(): number;
  /** Calls `task` once after `delayMs`. @returns What cancels it. */
  after(delayMs: number, task: () => void): () => void;
  /** Calls `task` every `periodMs`. @returns What ends it. */
  every(periodMs: number, task: () => void): () => void;
}
