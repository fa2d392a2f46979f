/** Hostile input for decoders, the same at every run. For tests only: neither built nor exported. */

/** Every proper prefix of `bytes`, shortest first, each in a buffer of its own so that a read past the end finds nothing. */
export function* everyTruncation(bytes: Uint8Array): Generator<Uint8Array> {
  for (let length = 0; length < bytes.length; length += 1) yield bytes.slice(0, length);
}

/**
 * `count` damaged copies of `bytes`: one to four changes each, of a byte, a bit, a run of 0x00 or 0xff, a removed or doubled
 * stretch, a cut end. Values at the edges come often, as lengths and counts break there.
 * @param seed The same seed gives the same copies.
 */
export function* seededMutations(bytes: Uint8Array, count: number, seed: number): Generator<Uint8Array> {
  const random = seededRandom(seed);
  for (let made = 0; made < count; made += 1) {
    let copy: Uint8Array = bytes.slice();
    for (let changes = 1 + random(4); changes > 0; changes -= 1) copy = damage(copy, random);
    yield copy;
  }
}

/** Integers in [0, limit), by xorshift32; a seed of 0 counts as 1. */
export function seededRandom(seed: number): (limit: number) => number {
  let state = seed >>> 0 || 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

const EDGES = [0x00, 0x01, 0x03, 0x04, 0x07, 0x08, 0x3f, 0x40, 0x7f, 0x80, 0xc0, 0xfe, 0xff];

function damage(bytes: Uint8Array, random: (limit: number) => number): Uint8Array {
  if (bytes.length === 0) return Uint8Array.of(random(256));
  const at = random(bytes.length);
  const run = 1 + random(8);
  switch (random(7)) {
    case 0:
      bytes[at] = random(256);
      return bytes;
    case 1:
      bytes[at] = EDGES[random(EDGES.length)] as number;
      return bytes;
    case 2:
      bytes[at] = (bytes[at] as number) ^ (1 << random(8));
      return bytes;
    case 3:
      return bytes.fill(random(2) === 0 ? 0 : 0xff, at, at + run);
    case 4:
      return join(bytes.subarray(0, at), bytes.subarray(at + run));
    case 5:
      return join(bytes.subarray(0, at + run), bytes.subarray(at));
    default:
      return bytes.slice(0, at);
  }
}

function join(front: Uint8Array, back: Uint8Array): Uint8Array {
  const joined = new Uint8Array(front.length + back.length);
  joined.set(front);
  joined.set(back, front.length);
  return joined;
}
