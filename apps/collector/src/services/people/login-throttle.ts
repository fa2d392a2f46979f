import type { Clock } from "@lanthorn/runtime";

/** Counts failed logins for each user and address. */
export interface LoginThrottle {
  /** How long this pair must wait before its next attempt; 0 when it may try now. */
  waitMs(username: string, address: string): number;
  /** Counts an attempt as failed from its start, so that many at once are no way round the limit. */
  begin(username: string, address: string): void;
  /** The attempt that was begun was right: its pair starts anew. */
  succeeded(username: string, address: string): void;
}

const FAILURES = 5;
const WINDOW_MS = 15 * 60_000;

/** Pairs remembered; the one longest quiet goes first. */
const MOST_PAIRS = 10_000;

export function createLoginThrottle(deps: { readonly clock: Clock }): LoginThrottle {
  const pairs = new Map<string, number[]>();
  const key = (username: string, address: string) => JSON.stringify([username, address]);
  const recent = (pair: string) => (pairs.get(pair) ?? []).filter((at) => at > deps.clock.monotonic() - WINDOW_MS);
  return {
    waitMs(username, address) {
      const failures = recent(key(username, address));
      const blocking = failures.at(-FAILURES);
      return blocking === undefined ? 0 : blocking + WINDOW_MS - deps.clock.monotonic();
    },
    begin(username, address) {
      const pair = key(username, address);
      const failures = [...recent(pair), deps.clock.monotonic()];
      pairs.delete(pair);
      pairs.set(pair, failures);
      if (pairs.size > MOST_PAIRS) pairs.delete(pairs.keys().next().value as string);
    },
    succeeded(username, address) {
      pairs.delete(key(username, address));
    },
  };
}
