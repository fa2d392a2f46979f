import type { PcapCounters } from "@lanthorn/contract/uplink";

/** What became of an interface's frames while a file was written. A frame is counted once beside `received`. */
export interface InterfaceCounters {
  /** Frames that reached the recorder. */
  readonly received: number;
  readonly droppedByInterface: number;
  readonly droppedByKernel: number;
  /** Overload, or the ring had lost them. */
  readonly droppedByProbe: number;
  /** By the filter, or by what the capture is about. */
  readonly leftOut: number;
}

/** Of an interface of which nothing is said. */
export const NO_COUNTERS: InterfaceCounters = { received: 0, droppedByInterface: 0, droppedByKernel: 0, droppedByProbe: 0, leftOut: 0 };

/** Counts what becomes of frames, for each interface by its number. Of others nothing is counted. */
export interface FrameCounts {
  readonly all: readonly InterfaceCounters[];
  /** Frames that are in the file. */
  added(interfaceId: number, frames: number): void;
  /** Frames that should be in it and are not. @param by Who dropped them; what this process did without had come to it. */
  missing(interfaceId: number, frames: number, by: "kernel" | "probe"): void;
  /** Frames that the file is not about. */
  leftOut(interfaceId: number, frames: number): void;
}

/** @param interfaces How many there are. */
export function createFrameCounts(interfaces: number): FrameCounts {
  const all: readonly { -readonly [K in keyof InterfaceCounters]: InterfaceCounters[K] }[] = Array.from({ length: interfaces }, () => ({ ...NO_COUNTERS }));
  const add = (interfaceId: number, what: keyof InterfaceCounters, frames: number) => {
    const own = all[interfaceId];
    if (own) own[what] += frames;
  };
  return {
    all,
    // For each frame: a name that is always the same costs V8 no search.
    added(interfaceId, frames) {
      const own = all[interfaceId];
      if (own) own.received += frames;
    },
    missing(interfaceId, frames, by) {
      if (by === "probe") add(interfaceId, "received", frames);
      add(interfaceId, by === "probe" ? "droppedByProbe" : "droppedByKernel", frames);
    },
    leftOut(interfaceId, frames) {
      add(interfaceId, "received", frames);
      add(interfaceId, "leftOut", frames);
    },
  };
}

/** The sums over all interfaces, as they are reported. */
export function sumCounters(counters: readonly InterfaceCounters[]): PcapCounters {
  const sum = (read: (one: InterfaceCounters) => number) => counters.reduce((total, one) => total + Math.max(0, Math.trunc(read(one))), 0);
  return {
    received: sum((one) => one.received), dropped_by_kernel: sum((one) => one.droppedByKernel + one.droppedByInterface),
    dropped_by_probe: sum((one) => one.droppedByProbe), left_out: sum((one) => one.leftOut),
  };
}
