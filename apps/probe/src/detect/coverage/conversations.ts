/** Notices whether unicast frames between others reach us, and whether answers do too: a switch that floods shows one direction only. */
export interface Conversations {
  /** @param bytes A unicast frame that is neither from nor to us. */
  hear(bytes: Uint8Array, destinationOffset: number, sourceOffset: number): void;
  /** What was heard since the last call. */
  take(): { readonly heard: boolean; readonly bothWays: boolean };
}

/** Of 4 bytes each: conversations that are remembered; a later one takes the place of an earlier one. */
const SLOTS = 1024;

/** It keeps 4 KiB whatever comes. */
export function createConversations(): Conversations {
  /** Hashes of from and to; 0 for none. */
  const slots = new Uint32Array(SLOTS);
  let heard = false;
  let bothWays = false;
  return {
    hear(bytes, destinationOffset, sourceOffset) {
      heard = true;
      if (bothWays) return;
      const destination = fold(bytes, destinationOffset);
      const source = fold(bytes, sourceOffset);
      const backward = mix(destination, source);
      if (slots[backward % SLOTS] === backward) bothWays = true;
      const forward = mix(source, destination);
      slots[forward % SLOTS] = forward;
    },
    take() {
      const taken = { heard, bothWays };
      heard = false;
      bothWays = false;
      slots.fill(0);
      return taken;
    },
  };
}

/** Six bytes in 32 bits. Multiplied by odd numbers of many bits, so that near addresses lie far apart. */
function fold(bytes: Uint8Array, offset: number): number {
  const at = (index: number) => bytes[offset + index] ?? 0;
  return (Math.imul((at(0) << 8) | at(1), 0x9e3779b1) ^ ((at(2) << 24) | (at(3) << 16) | (at(4) << 8) | at(5))) >>> 0;
}

/** Another number for (b, a) than for (a, b); never 0. */
function mix(from: number, to: number): number {
  const mixed = Math.imul(from, 0x85ebca6b) ^ Math.imul((to << 13) | (to >>> 19), 0xc2b2ae35);
  return (Math.imul(mixed ^ (mixed >>> 16), 0x27d4eb2f) >>> 0) || 1;
}
