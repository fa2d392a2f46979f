import type { Clock } from "@lanthorn/runtime";
import { MAX_BLOCKS, type MemoryRing, type RingBlock } from "./memory-ring.ts";

/** Blocks of the ring that the sinks have not had yet, in their order. Mostly there are none: a block is handed on as soon as it is in the ring. */
export interface BlockQueue {
  /** A block was committed to the ring: hands it on, or has it wait. */
  added(block: RingBlock): void;
  /** A block is about to leave the ring: what waits up to it is handed on now. */
  leaving(block: RingBlock): void;
  /** Does something when what waits now has been handed on: at once where nothing waits. */
  behind(what: () => void): void;
  /** Which part of the ring waits, of its bytes or of its blocks: 0 to 1. */
  load(): number;
  /** Hands on what waits. */
  close(): Promise<void>;
}

/** Beyond this share of the kernel's ring blocks are only copied, which is quick, and handed on when all are. */
const COPY_ONLY_ABOVE = 0.25;
/** As long as the kernel's ring is that full, what is read has the time, up to this share of ours: its room is found at once, that of the kernel's is not. */
const READ_FIRST_BELOW = 0.4;
/** One turn of the event loop hands on blocks for so long: what a disk has written waits for the end of it. */
const TURN_MS = 2;
/** Sinks whose disk is slow are waited for until so much of the ring waits; from there on blocks are left out for the last one. Disks stall for a quarter of a second now and then. */
const WAIT_BELOW = 0.6;
/** And for so long at most: others that read the same frames wait too. */
const WAIT_MS = 1000;
/** Less than it takes to write what all buffers hold: the disk is not to wait for us. */
const LOOK_AGAIN_MS = 1;

/**
 * @param deps.kernelLoad What waits in the kernel: 0 to 1.
 * @param deps.isReady Whether all who are handed a block now have room for it, where such a part of the ring waits: 0 to 1.
 */
export function createBlockQueue(deps: {
  readonly ring: Pick<MemoryRing, "blockAt">; readonly ringBytes: number; readonly kernelLoad: () => number; readonly isReady: (waiting: number) => boolean;
  readonly dispatch: (block: RingBlock) => void; readonly clock: Pick<Clock, "monotonic" | "after">;
}): BlockQueue {
  const { ring, ringBytes, clock } = deps;
  let nextSequence = 0;
  let waitingBytes = 0;
  let isTurnDue = false;
  let waitsSince: number | null = null;
  let drained: (() => void) | null = null;
  let lastSequence = -1;
  const reading = createReading();
  const marks: { readonly sequence: number; readonly what: () => void }[] = [];

  const waitingBlocks = () => (waitingBytes > 0 ? lastSequence - nextSequence + 1 : 0);
  const load = () => Math.min(1, Math.max(waitingBytes / ringBytes, waitingBlocks() / MAX_BLOCKS));

  function isToWait(): boolean {
    if (deps.isReady(load())) {
      waitsSince = null;
      return false;
    }
    waitsSince ??= clock.monotonic();
    return load() < WAIT_BELOW && clock.monotonic() - waitsSince < WAIT_MS;
  }

  function handOn(block: RingBlock): void {
    nextSequence = block.sequence + 1;
    waitingBytes -= block.end - block.offset;
    deps.dispatch(block);
    while (marks[0] && marks[0].sequence <= block.sequence) marks.shift()?.what();
  }

  function turn(): void {
    isTurnDue = false;
    if (drained === null && load() < READ_FIRST_BELOW && deps.kernelLoad() > COPY_ONLY_ABOVE && reading.hasBrought(lastSequence)) return schedule(0);
    const end = clock.monotonic() + TURN_MS;
    while (waitingBytes > 0) {
      if (isToWait()) return schedule(LOOK_AGAIN_MS);
      if (clock.monotonic() >= end) return schedule(0);
      handOn(ring.blockAt(nextSequence) as RingBlock);
    }
    drained?.();
  }

  function schedule(delayMs: number): void {
    if (isTurnDue) return;
    isTurnDue = true;
    if (delayMs > 0) clock.after(delayMs, turn);
    else setImmediate(turn);
  }

  return {
    load,
    added(block) {
      const isFirst = waitingBytes === 0;
      lastSequence = block.sequence;
      waitingBytes += block.end - block.offset;
      if (!isFirst) return;
      if (isToWait()) schedule(LOOK_AGAIN_MS);
      else if (deps.kernelLoad() > COPY_ONLY_ABOVE) schedule(0);
      else handOn(block);
    },
    behind(what) {
      if (waitingBytes === 0) what();
      else marks.push({ sequence: lastSequence, what });
    },
    leaving({ sequence }) {
      while (nextSequence <= sequence && waitingBytes > 0) handOn(ring.blockAt(nextSequence) as RingBlock);
    },
    close() {
      return new Promise((resolve) => {
        drained = resolve;
        if (!isTurnDue) turn();
      });
    },
  };
}

/** Whether a turn that was left to who reads brought a block: where it did not, there is no reason to leave another. */
function createReading() {
  let leftAt = -1;
  return {
    hasBrought(newest: number): boolean {
      const isNewer = newest !== leftAt;
      leftAt = newest;
      return isNewer;
    },
  };
}
