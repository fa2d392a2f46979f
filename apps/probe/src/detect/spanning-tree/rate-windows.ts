import { createBoundedMap } from "../../bounded-map.ts";

/** Counts BPDUs of each sender and tree. */
export interface RateWindows {
  /** @param key Of a sender and its tree. @returns Whether this one is of too many. */
  isFlood(key: string, bpdu: { readonly now: number; readonly isTopologyChange: boolean }): boolean;
}

const WINDOW_MS = 10_000;
/** A bridge sends one in two seconds, or one a second, and a few more while ports come up. */
const MAX_BPDUS = 60;
/** A bridge repeats its notification each two seconds until it is acknowledged. @see IEEE 802.1D-2004 clause 17.21 */
const MAX_CHANGES = 12;
const MAX_KEYS = 1024;

/** 1024 senders are counted; the oldest leaves first. */
export function createRateWindows(): RateWindows {
  const windows = createBoundedMap<string, { readonly since: number; bpdus: number; changes: number }>(MAX_KEYS);
  return {
    isFlood(key, { now, isTopologyChange }) {
      let window = windows.get(key);
      if (!window || now - window.since >= WINDOW_MS) {
        window = { since: now, bpdus: 0, changes: 0 };
        windows.put(key, window);
      }
      window.bpdus += 1;
      if (isTopologyChange) window.changes += 1;
      return window.bpdus > MAX_BPDUS || window.changes > MAX_CHANGES;
    },
  };
}
