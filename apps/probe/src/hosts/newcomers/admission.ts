/** Decides whether a MAC that was never seen becomes a host, so that made-up ones fill neither memory nor queue. */
export interface Admission {
  /** Questions went out: each may bring one host that nobody knew. */
  asked(count: number): void;
  /**
   * @param newcomer.solicited It answered us.
   * @param newcomer.hasWaited It was admitted when it came, and had to wait to be entered.
   * @param newcomer.sharers Online hosts that claim its address already.
   * @returns Null to admit, or why not, in words.
   */
  refusal(newcomer: { readonly solicited: boolean; readonly hasWaited?: boolean; readonly sharers: number }, now: number): string | null;
}

/** Answers to one sweep come within seconds; older questions bring nobody. */
const MAX_CREDITS = 4096;
/** Hosts that speak unasked: a busy /22 says hello within its first minute, and a school's bell brings a few each second. */
const UNASKED_BURST = 512;
const UNASKED_PER_SECOND = 4;
/** Redundant routers and a takeover: more MACs at one address are made up. */
const MAX_SHARERS = 4;

/** @param options.unasked `paced` limits how many hosts a second come in unasked; `all` is for a file, which ends. */
export function createAdmission(options: { readonly unasked: "paced" | "all" }): Admission {
  let credits = 0;
  let tokens = UNASKED_BURST;
  let refilledAt = 0;
  return {
    asked(count) {
      credits = Math.min(credits + count, MAX_CREDITS);
    },
    refusal({ solicited, hasWaited, sharers }, now) {
      if (sharers >= MAX_SHARERS) return `${sharers} MACs claim the same address`;
      if (hasWaited) return null;
      if (solicited && credits > 0) {
        credits -= 1;
        return null;
      }
      if (options.unasked === "all") return null;
      tokens = Math.min(tokens + ((now - refilledAt) / 1000) * UNASKED_PER_SECOND, UNASKED_BURST);
      refilledAt = now;
      if (tokens < 1) return `more than ${UNASKED_PER_SECOND} new MACs a second`;
      tokens -= 1;
      return null;
    },
  };
}
