/** More kinds than this are counted as `other`: their names come from the network. */
const MAX_KINDS = 256;

/** Counts by kind. */
export interface KindCounter {
  add(kind: string): void;
  /** Kind → how many, the most first. */
  counts(): Readonly<Record<string, number>>;
}

/** A counter of at most 256 kinds. */
export function createKindCounter(): KindCounter {
  const counts = new Map<string, number>();
  return {
    add(kind) {
      const count = counts.get(kind);
      if (count === undefined && counts.size >= MAX_KINDS) counts.set("other", (counts.get("other") ?? 0) + 1);
      else counts.set(kind, (count ?? 0) + 1);
    },
    counts: () => Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a)),
  };
}
