import type { GuardDeps } from "../guard.ts";

/** When somebody was seen claiming addresses that are not its own. */
export interface AttackTimes {
  /** @param at Monotonic milliseconds. */
  has(at: number): boolean;
  tick(now: number): void;
}

/** For so long an attack has gone on at most when it is reported. */
const BEFORE_MS = 10_000;
const MAX_TIMES = 16;
const KINDS = ["arp_spoofing", "ndp_spoofing", "arp_storm"] as const;

/** The last sixteen times in which an incident was open. */
export function createAttackTimes({ incidents }: Pick<GuardDeps, "incidents">): AttackTimes {
  const times: { readonly from: number; until: number }[] = [];
  let isOpen = false;
  return {
    has: (at) => times.some(({ from, until }) => at >= from && at <= until),
    tick(now) {
      const wasOpen = isOpen;
      isOpen = KINDS.some((kind) => incidents.isAnyOpen(kind, () => true));
      if (!isOpen) return;
      const last = times.at(-1);
      if (wasOpen && last) {
        last.until = now;
        return;
      }
      times.push({ from: now - BEFORE_MS, until: now });
      if (times.length > MAX_TIMES) times.shift();
    },
  };
}
