import { createFrameCursor, type FrameBlock, KERNEL_RING_OCTETS } from "@lanthorn/packet-io";
import type { Clock, Log } from "@lanthorn/runtime";
import { type BlockQueue, createBlockQueue } from "../ring/block-queue.ts";
import { type MemoryRing, readBlockFacts } from "../ring/memory-ring.ts";
import type { Sink } from "../sinks.ts";
import { createShedder, type Shedder } from "./shedder.ts";

/** The way of a block from the ring to the sinks. */
export interface FramePath {
  /** Of blocks that are in the ring and that the sinks have not had. */
  readonly queue: BlockQueue;
  readonly shedder: Shedder;
  /** Takes a block that lies where the ring's `allocate` said. @returns Octets of its frames on the wire. */
  take(block: FrameBlock, interfaceId: number): number;
}

/** Two thirds of ours are as bad as half of the kernel's: what waits in ours is not lost yet. */
const OF_THE_RING = 0.75;
/** From where on blocks are left out for the sink that can do with a part of them, and where all are: the more waits, the more of them. */
const LEAVE_OUT_FROM = 0.6;
const LEAVE_OUT_ALL = 0.95;

/**
 * @param deps.ring Calls `queue.leaving` with each block that leaves it.
 * @param deps.sinks The most important first.
 * @param deps.kernelLoad What waits in the kernel: 0 to 1.
 */
export function createFramePath(deps: {
  readonly ring: Pick<MemoryRing, "commit" | "blockAt">; readonly ringBytes: number; readonly sinks: readonly Sink[]; readonly kernelLoad: () => number;
  readonly clock: Pick<Clock, "now" | "monotonic" | "after">; readonly log: Pick<Log, "info" | "warn">;
}): FramePath {
  const { ring, ringBytes, sinks, kernelLoad, clock, log } = deps;
  const cursor = createFrameCursor();
  const shedder = createShedder({
    sinks, kernelLoad, clock, log, load: (inKernel) => Math.max(inKernel, queue.load() * OF_THE_RING),
    waiting: (inKernel) => (inKernel * KERNEL_RING_OCTETS + queue.load() * ringBytes) / (KERNEL_RING_OCTETS + ringBytes),
    excess: () => Math.min(1, Math.max(0, (queue.load() - LEAVE_OUT_FROM) / (LEAVE_OUT_ALL - LEAVE_OUT_FROM))),
  });
  const queue = createBlockQueue({
    ring, ringBytes, kernelLoad, clock, isReady: shedder.isReady, dispatch: (block) => shedder.dispatch(block, block.interfaceId, block.octets),
  });
  return {
    queue, shedder,
    take(block, interfaceId) {
      const facts = readBlockFacts(block, cursor);
      const held = ring.commit(block, interfaceId, facts);
      if (held) queue.added(held);
      return facts.octets;
    },
  };
}
