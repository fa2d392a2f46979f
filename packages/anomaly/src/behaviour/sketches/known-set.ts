/**
 * Whether something was met before, for the last so many things. What is met again moves towards the front; what is met for the first time
 * takes a place of the last quarter, so that a thousand passing ones do not push out those that are met each day.
 */
export interface KnownSet {
  /** Adds it. @param hash Of 32 bits. @returns Whether it was not known. */
  readonly add: (hash: number) => boolean;
  readonly has: (hash: number) => boolean;
  /** The hashes, as they are kept. */
  readonly hashes: () => Uint32Array;
}

/** 0 stands for an empty place. */
const NO_HASH = 0;

/** Takes no memory before something is added. @param saved Hashes of another of the same size. */
export function createKnownSet(size: number, saved: Uint32Array | null = null): KnownSet {
  const lastQuarter = Math.floor(size * 0.75);
  let kept = saved && placesOf(size, saved);
  let filled = kept ? kept.indexOf(NO_HASH) : 0;
  if (filled < 0) filled = size;
  let next = lastQuarter;
  return {
    add(hash) {
      const places = (kept ??= new Uint32Array(size));
      const wanted = keptAs(hash);
      const place = places.indexOf(wanted);
      if (place >= 0) {
        const forward = place >>> 1;
        places[place] = places[forward] ?? NO_HASH;
        places[forward] = wanted;
        return false;
      }
      if (filled < size) {
        places[filled] = wanted;
        filled += 1;
      } else {
        places[next] = wanted;
        next = next + 1 < size ? next + 1 : lastQuarter;
      }
      return true;
    },
    has: (hash) => kept?.includes(keptAs(hash)) ?? false,
    hashes: () => kept ?? new Uint32Array(size),
  };
}

function placesOf(size: number, saved: Uint32Array): Uint32Array {
  const places = new Uint32Array(size);
  places.set(saved.subarray(0, size));
  return places;
}

function keptAs(hash: number): number {
  return hash >>> 0 || 1;
}
