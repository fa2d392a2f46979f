/** A run of addresses, and who of us asks for them. */
export interface NeighborRange {
  readonly first: number;
  readonly count: number;
  /** Our own address in their subnet. */
  readonly ownIp: number;
}

/** The addresses of some ranges by number: 0 is the first one of the first range. */
export interface NeighborPlaces {
  readonly total: number;
  /** Our own addresses that are among them. */
  readonly own: ReadonlySet<number>;
  /** @returns -1 where it is none of them. */
  placeOf(ip: number): number;
  /** @param place From 0 to `total` - 1. */
  ipAt(place: number): number;
  /** @returns The index of the range that holds the place. */
  rangeAt(place: number): number;
}

/** Nothing is allocated by a question: they are asked for each frame. @param ranges Few; they are looked through. */
export function createNeighborPlaces(ranges: readonly NeighborRange[]): NeighborPlaces {
  const firsts = Float64Array.from(ranges, ({ first }) => first);
  const counts = Uint32Array.from(ranges, ({ count }) => count);
  /** The place at which each range begins. */
  const starts = new Uint32Array(ranges.length);
  let total = 0;
  for (const [index, { count }] of ranges.entries()) {
    starts[index] = total;
    total += count;
  }
  const rangeAt = (place: number): number => {
    let index = 0;
    while (index + 1 < starts.length && place >= (starts[index + 1] as number)) index += 1;
    return index;
  };
  return {
    total, rangeAt,
    own: new Set(ranges.filter(({ first, count, ownIp }) => ownIp >= first && ownIp < first + count).map(({ ownIp }) => ownIp)),
    placeOf(ip) {
      for (let index = 0; index < firsts.length; index += 1) {
        const distance = ip - (firsts[index] as number);
        if (distance >= 0 && distance < (counts[index] as number)) return (starts[index] as number) + distance;
      }
      return -1;
    },
    ipAt(place) {
      const index = rangeAt(place);
      return (firsts[index] as number) + place - (starts[index] as number);
    },
  };
}
