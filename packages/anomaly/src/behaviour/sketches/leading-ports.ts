/** The ports that a device uses or offers most, of which its group is named. */
export interface LeadingPorts {
  readonly add: (name: string) => void;
  /** The two most frequent, sorted by name; "" while there is none. */
  readonly group: () => string;
  readonly entries: () => readonly (readonly [name: string, count: number])[];
}

/** Enough for the two leading ones of a long tail. */
const MAX_PORTS = 8;
/** A port counts where it has this share of the most frequent one. */
const MIN_SHARE = 0.25;
const MAX_COUNT = 2 ** 31;

/** @see Metwally et al., "Space-Saving", ICDT 2005: a new one takes the place and the count of the rarest. */
export function createLeadingPorts(saved: Iterable<readonly [string, number]> = []): LeadingPorts {
  const counts = new Map<string, number>(saved);
  return {
    add(name) {
      const known = counts.get(name);
      if (known !== undefined || counts.size < MAX_PORTS) {
        counts.set(name, Math.min(MAX_COUNT, (known ?? 0) + 1));
        return;
      }
      const [rarest, count] = [...counts].reduce((least, entry) => (entry[1] < least[1] ? entry : least));
      counts.delete(rarest);
      counts.set(name, count + 1);
    },
    group() {
      const [first, second] = [...counts].toSorted((a, b) => b[1] - a[1]);
      if (!first) return "";
      return (second && second[1] >= MIN_SHARE * first[1] ? [first[0], second[0]] : [first[0]]).toSorted().join(" ");
    },
    entries: () => [...counts],
  };
}
