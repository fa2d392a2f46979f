import type { FrameBlock } from "@lanthorn/packet-io";

/** Which flow each frame of a block is of, as the flow table numbers them: who is given the block behind it need not find that out again. */
export interface FlowNumbers {
  /** The flow table begins with a block. @returns Where the numbers of its frames go, in their order; 0 for a frame that is not nearly all that there is. */
  begin(block: FrameBlock): Uint32Array;
  /** @returns The same; null where the flow table was not given this block. Good until the next one. */
  of(block: FrameBlock): Uint32Array | null;
}

const FIRST_FRAMES = 2048;

/** Keeps those of one block. */
export function createFlowNumbers(): FlowNumbers {
  let numbers = new Uint32Array(FIRST_FRAMES);
  let last: FrameBlock | null = null;
  return {
    begin(block) {
      if (numbers.length < block.frames) numbers = new Uint32Array(block.frames * 2);
      numbers.fill(0, 0, block.frames);
      last = block;
      return numbers;
    },
    of: (block) => (block === last ? numbers : null),
  };
}
