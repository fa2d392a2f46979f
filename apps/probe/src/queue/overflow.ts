import type { Entry } from "./entry.ts";

/** Events that could not be written, held in memory until they can be. */
export interface Overflow {
  /** Takes events in; when full, the oldest of the lowest priority go. */
  push(entries: readonly Entry[]): void;
  /** Everything held, oldest first; stays held. */
  readonly entries: readonly Entry[];
  /** What had to go since the last `clear`. */
  readonly lost: { readonly count: number; readonly since: string | null };
  /** Forgets all, after it was written. */
  clear(): void;
}

/** A daemon that may use 90 MB in all cannot give more to a disk that is full. */
const OVERFLOW_MAX_BYTES = 4 * 1024 * 1024;

/** @param maxBytes As `Entry.bytes` counts them. When it is full, a tenth of it is given up at once. */
export function createOverflow(maxBytes = OVERFLOW_MAX_BYTES): Overflow {
  let entries: Entry[] = [];
  let bytes = 0;
  let count = 0;
  let since: string | null = null;

  /** A tenth at a time, so that a long stay at the limit does not walk the list for every event. */
  const makeRoom = () => {
    const goal = maxBytes * 0.9;
    const gone = new Set<Entry>();
    for (const entry of entries.toSorted((a, b) => a.priority - b.priority)) {
      if (bytes <= goal) break;
      gone.add(entry);
      bytes -= entry.bytes;
      count += 1;
      if (since === null || entry.occurredAt < since) since = entry.occurredAt;
    }
    entries = entries.filter((entry) => !gone.has(entry));
  };

  return {
    push(added) {
      for (const entry of added) {
        entries.push(entry);
        bytes += entry.bytes;
      }
      if (bytes > maxBytes) makeRoom();
    },
    get entries() {
      return entries;
    },
    get lost() {
      return { count, since };
    },
    clear() {
      entries = [];
      bytes = 0;
      count = 0;
      since = null;
    },
  };
}
