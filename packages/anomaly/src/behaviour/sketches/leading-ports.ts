import { addLeading, createLeading, entriesOf, type LeadingCounts, leastOf } from "./leading.ts";

/** The ports that a device uses or offers most, of which its group is named. */
export interface LeadingPorts {
  /** Adds what was counted in an hour. */
  readonly learn: (hour: LeadingCounts) => void;
  /** The two most frequent, sorted by name; "" while there is none. */
  readonly group: () => string;
  readonly entries: () => readonly (readonly [name: string, count: number])[];
}

/** Enough for the two leading ones of a long tail. */
export const MAX_PORTS = 8;
/** A port counts where it has this share of the most frequent one. */
const MIN_SHARE = 0.25;

/** @param saved What `entries` gave. */
export function createLeadingPorts(saved: Iterable<readonly [string, number]> = []): LeadingPorts {
  const ports = createLeading(MAX_PORTS, saved);
  const entries = () => entriesOf(ports).map(([name, count]) => [name, count] as const);
  return {
    learn(hour) {
      for (const [name, times] of leastOf(hour)) addLeading(ports, name, MAX_PORTS, times);
    },
    group() {
      const [first, second] = entries().toSorted((a, b) => b[1] - a[1]);
      if (!first) return "";
      return (second && second[1] >= MIN_SHARE * first[1] ? [first[0], second[0]] : [first[0]]).toSorted().join(" ");
    },
    entries,
  };
}
