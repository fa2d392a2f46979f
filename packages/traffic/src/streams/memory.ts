/** What all flows together may keep of their payload: one account, with the least valuable out first. */

/** How much is lost with a flow's bytes: `open` is not recognized yet, `partial` has lost bytes before, `whole` is understood so far. */
export type HolderWorth = "open" | "partial" | "whole";

const ORDER: readonly HolderWorth[] = ["open", "partial", "whole"];

/** A flow that keeps bytes. */
export interface MemoryHolder {
  /** Bytes that are on its account; kept by the account alone. */
  heldBytes: number;
  readonly worth: HolderWorth;
  /** Gives up all bytes, by `remove`. */
  release(): void;
}

/** The account. */
export interface StreamMemory {
  /** Puts `octets` on the account, and on the holder's. Never releases: see `shrink`. */
  add(holder: MemoryHolder, octets: number): void;
  remove(holder: MemoryHolder, octets: number): void;
  /** Lets holders release until the bound is kept: those of least worth first, and among them who began to hold first. */
  shrink(): void;
  readonly usedBytes: number;
  readonly isOver: boolean;
  /** Holders that had to release. */
  readonly evictions: number;
}

/** @param maxBytes Bound of all holders together; it is kept after each `shrink`. */
export function createStreamMemory(maxBytes: number): StreamMemory {
  const holders: Readonly<Record<HolderWorth, Set<MemoryHolder>>> = { open: new Set(), partial: new Set(), whole: new Set() };
  let usedBytes = 0;
  let evictions = 0;

  const isOver = () => usedBytes > maxBytes;

  function oldest(): MemoryHolder | undefined {
    for (const worth of ORDER) {
      for (const holder of holders[worth]) {
        if (holder.worth === worth) return holder;
        // Its worth has changed since it began to hold.
        holders[worth].delete(holder);
        holders[holder.worth].add(holder);
      }
    }
    // Each was looked at once and moved up: the first of any set is as good as another.
    return ORDER.flatMap((worth) => [...holders[worth]].slice(0, 1))[0];
  }

  function forget(holder: MemoryHolder): void {
    for (const worth of ORDER) holders[worth].delete(holder);
  }

  return {
    add(holder, octets) {
      if (holder.heldBytes === 0) holders[holder.worth].add(holder);
      holder.heldBytes += octets;
      usedBytes += octets;
    },
    remove(holder, octets) {
      holder.heldBytes -= octets;
      usedBytes -= octets;
      if (holder.heldBytes === 0) forget(holder);
    },
    shrink() {
      for (let holder = isOver() ? oldest() : undefined; holder; holder = isOver() ? oldest() : undefined) {
        evictions += 1;
        holder.release();
        forget(holder);
      }
    },
    get usedBytes() {
      return usedBytes;
    },
    get isOver() {
      return isOver();
    },
    get evictions() {
      return evictions;
    },
  };
}
