/** Notices whether unicast frames between others reach us, and whether answers do too: a switch that floods shows one direction only. */
export interface Conversations {
  /** @param bytes A unicast frame that is neither from nor to us. */
  hear(bytes: Uint8Array, destinationOffset: number, sourceOffset: number): void;
  /** What was heard since the last call. */
  take(): { readonly heard: boolean; readonly bothWays: boolean };
}

/** Of 4 bytes each, a power of two: conversations that are remembered; a later one takes the place of an earlier one. */
const SLOTS = 1024;
/** Of each look: on a mirror port so many have answers among them, and what comes after costs nothing. */
const MAX_FRAMES = 4096;

/** It keeps 4 KiB whatever comes. */
export function createConversations(): Conversations {
  /** Hashes of from and to; 0 for none. */
  const slots = new Int32Array(SLOTS);
  let frames = 0;
  let bothWays = false;
  return {
    hear(bytes, destinationOffset, sourceOffset) {
      frames += 1;
      if (bothWays || frames > MAX_FRAMES) return;
      const destination = fold(bytes, destinationOffset);
      const source = fold(bytes, sourceOffset);
      const backward = mix(destination, source);
      if (slots[backward & (SLOTS - 1)] === backward) bothWays = true;
      const forward = mix(source, destination);
      slots[forward & (SLOTS - 1)] = forward;
    },
    take() {
      const taken = { heard: frames > 0, bothWays };
      frames = 0;
      bothWays = false;
      slots.fill(0);
      return taken;
    },
  };
}

/** Six bytes in 32 bits, signed: V8 keeps such numbers without allocation. Multiplied by odd numbers, so that near addresses lie far apart. */
function fold(bytes: Uint8Array, offset: number): number {
  const high = ((bytes[offset] as number) << 8) | (bytes[offset + 1] as number);
  const low = ((bytes[offset + 2] as number) << 24) | ((bytes[offset + 3] as number) << 16) | ((bytes[offset + 4] as number) << 8) | (bytes[offset + 5] as number);
  return Math.imul(high, 0x9e3779b1) ^ low;
}

/** Another number for (b, a) than for (a, b); never 0. */
function mix(from: number, to: number): number {
  const mixed = Math.imul(from, 0x85ebca6b) ^ Math.imul((to << 13) | (to >>> 19), 0xc2b2ae35);
  return Math.imul(mixed ^ (mixed >>> 16), 0x27d4eb2f) || 1;
}
