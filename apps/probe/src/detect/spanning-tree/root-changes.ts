/** What becomes of a root that is not the learned one. `contested`: it goes to and fro. `settled`: it was there for long enough to be the root. */
type RootChange = "new" | "stays" | "contested" | "settled";

interface Candidate {
  readonly root: string;
  readonly since: number;
}

/** Two hellos: a root that is named once by chance is no news. */
const STAY_MS = 3000;
/** After this another root is as it should be: the old one was replaced. */
const SETTLE_MS = 60_000;
/** One of priority 0, or whose MAC is like the old root's, is believed later. */
const SETTLE_SUSPECT_MS = 600_000;
/** Two changes within the one time, or three within the other, are somebody who fights for it. */
const FIGHT = { quick: 2, quickMs: 10_000, slow: 3, slowMs: 600_000 } as const;
const MAX_TREES = 512;

/** Follows each tree's root while it is not the learned one. */
export interface RootChanges {
  /** The root is the learned one. */
  isBack(tree: string): void;
  /** Another root is named. */
  other(tree: string, root: string, options: { readonly now: number; readonly isSuspect: boolean }): RootChange;
}

/** At most 512 trees are followed. */
export function createRootChanges(): RootChanges {
  const candidates = new Map<string, Candidate>();
  const changes = new Map<string, number[]>();

  function addChange(tree: string, now: number): void {
    const times = (changes.get(tree) ?? []).filter((at) => now - at < FIGHT.slowMs).slice(-FIGHT.slow);
    if (!changes.has(tree) && changes.size >= MAX_TREES) return;
    changes.set(tree, [...times, now]);
  }
  function isFought(tree: string, now: number): boolean {
    const times = changes.get(tree) ?? [];
    return times.filter((at) => now - at < FIGHT.slowMs).length >= FIGHT.slow || times.filter((at) => now - at < FIGHT.quickMs).length >= FIGHT.quick;
  }
  return {
    isBack: (tree) => void candidates.delete(tree),
    other(tree, root, { now, isSuspect }) {
      let candidate = candidates.get(tree);
      if (candidate?.root !== root) {
        addChange(tree, now);
        if (candidates.size >= MAX_TREES && !candidate) return "new";
        candidate = { root, since: now };
        candidates.set(tree, candidate);
      }
      if (isFought(tree, now)) return "contested";
      if (now - candidate.since >= (isSuspect ? SETTLE_SUSPECT_MS : SETTLE_MS)) {
        candidates.delete(tree);
        return "settled";
      }
      return now - candidate.since >= STAY_MS ? "stays" : "new";
    },
  };
}
