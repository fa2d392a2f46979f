import type { TextResults, TextTask } from "./text-work.ts";
import type { TextWorker } from "./text-worker.ts";

type Diff = TextResults["diff"];

/** Differences between versions, each made once for as long as it is remembered: a version never changes. */
export interface Diffs {
  /**
   * @param which Two versions of one device of the tenant's, by their ids. One that shows secrets is not remembered.
   * @param task Made where the difference is not known.
   * @throws As `TextWorker.run`.
   */
  of(
    which: { readonly tenantId: string; readonly oldId: string; readonly newId: string; readonly masked: boolean },
    task: () => Promise<TextTask & { readonly kind: "diff" }>,
  ): Promise<Diff>;
}

/** Of all together, in characters. The longest one has a million. */
const MAX_REMEMBERED = 4_000_000;

/** Remembers up to four million characters, the least recently used go first. Equal requests at the same time share one task. */
export function createDiffs(worker: Pick<TextWorker, "run">): Diffs {
  /** The one longest not asked for is first. */
  const known = new Map<string, Diff>();
  const inFlight = new Map<string, Promise<Diff>>();
  let size = 0;

  const remember = (key: string, diff: Diff) => {
    known.set(key, diff);
    size += diff.diff.length;
    for (const [oldest, { diff: text }] of known) {
      if (size <= MAX_REMEMBERED) break;
      known.delete(oldest);
      size -= text.length;
    }
  };

  return {
    of({ tenantId, oldId, newId, masked }, task) {
      const key = `${tenantId} ${oldId} ${newId} ${masked}`;
      const before = known.get(key);
      if (before) {
        known.delete(key);
        known.set(key, before);
        return Promise.resolve(before);
      }
      const same = inFlight.get(key);
      if (same) return same;
      const made = (async () => {
        try {
          const diff = await worker.run(tenantId, await task());
          if (masked) remember(key, diff);
          return diff;
        } finally {
          inFlight.delete(key);
        }
      })();
      inFlight.set(key, made);
      return made;
    },
  };
}
