import type { Clock } from "@lanthorn/runtime";

/** How much one caller may ask: at most `perMinute` in any 60 s, and at most `burst` in any one second. */
export interface Tier {
  readonly perMinute: number;
  readonly burst: number;
}

/** What one request found. `remaining` is what the tighter of the two windows still allows. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** How long until the next request would be allowed; 0 when this one was. */
  readonly retryAfterMs: number;
  /** How long until `remaining` rises. */
  readonly resetMs: number;
}

/** What a request counts for. */
export interface Caller {
  readonly caller: string;
  readonly tier: Tier;
}

/** Requests of each caller, counted in this process or, where several replicas share the limits, in the database. */
export interface RateLimiter {
  /**
   * Counts a request of `caller`, unless it is refused: a refused one takes nothing, so that waiting always helps.
   * @param shared An allowance that the caller has together with others, as a user's for all tokens: it is counted for both, or for neither.
   * @returns The caller's limit, and what the tighter of both still allows.
   */
  take(caller: string, tier: Tier, shared?: Caller): Allowance | Promise<Allowance>;
}

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;

/** Callers remembered; the one longest quiet goes first. */
const MAX_CALLERS = 10_000;
/** Requests remembered, of all callers together: 24 MB, in practice far less. Who asks from many addresses makes others be forgotten, and no more memory be taken. */
const MAX_REQUESTS = 3_000_000;

/**
 * Two sliding windows for each caller. The times of the last minute's requests are kept, so a window is exactly a window:
 * counters that start again at each full minute allow twice the limit across their edge.
 * @param deps.maxRequests Remembered of all callers together.
 */
export function createRateLimiter(deps: { readonly clock: Clock; readonly maxRequests?: number }): {
  take(caller: string, tier: Tier, shared?: Caller): Allowance;
} {
  const { maxRequests = MAX_REQUESTS } = deps;
  const callers = new Map<string, number[]>();
  let requests = 0;
  /** The times of a caller's last minute, which becomes the one that was heard of last. */
  const timesOf = (caller: string, now: number): number[] => {
    const times = callers.get(caller) ?? [];
    const firstKept = times.findIndex((at) => at > now - MINUTE_MS);
    requests -= times.splice(0, firstKept === -1 ? times.length : firstKept).length;
    callers.delete(caller);
    callers.set(caller, times);
    for (const [quietest, { length }] of callers) {
      if (callers.size <= MAX_CALLERS && (requests <= maxRequests || callers.size <= 2)) break;
      callers.delete(quietest);
      requests -= length;
    }
    return times;
  };
  return {
    take(caller, tier, shared) {
      const now = deps.clock.monotonic();
      const own = timesOf(caller, now);
      const common = shared && timesOf(shared.caller, now);
      const allowance = tighter(judge(own, tier, now), shared && judge(common ?? [], shared.tier, now));
      if (allowance.allowed) {
        own.push(now);
        common?.push(now);
        requests += common ? 2 : 1;
      }
      return allowance;
    },
  };
}

/** The stricter of a caller's own quota and one that it shares; the limit in the headers is its own. */
export function tighter(own: Allowance, shared: Allowance | undefined): Allowance {
  if (shared === undefined) return own;
  const isShared = shared.allowed === own.allowed ? (own.allowed ? shared.remaining < own.remaining : shared.retryAfterMs > own.retryAfterMs)
    : !shared.allowed;
  return isShared ? { ...shared, limit: own.limit } : own;
}

/** @param times Of the requests of the last minute, oldest first. @returns Whether one more is allowed now. */
export function judge(times: readonly number[], tier: Tier, now: number): Allowance {
  const inSecond = times.length - (times.findLastIndex((at) => at <= now - SECOND_MS) + 1);
  const room = Math.min(tier.perMinute - times.length, tier.burst - inSecond);
  if (room > 0) {
    // With this request: the first of the tighter window leaves it, and makes room.
    const isMinute = tier.perMinute - times.length <= tier.burst - inSecond;
    const first = (isMinute ? times[0] : times.at(-inSecond || times.length)) ?? now;
    return { allowed: true, limit: tier.perMinute, remaining: room - 1, retryAfterMs: 0, resetMs: first + (isMinute ? MINUTE_MS : SECOND_MS) - now };
  }
  const retryAfterMs = Math.max(untilRoom(times, tier.perMinute, MINUTE_MS, now), untilRoom(times, tier.burst, SECOND_MS, now));
  return { allowed: false, limit: tier.perMinute, remaining: 0, retryAfterMs, resetMs: retryAfterMs };
}

/** The window has room again when the request `allowed` places from the end has left it. */
function untilRoom(times: readonly number[], allowed: number, windowMs: number, now: number): number {
  const blocking = times.at(-allowed);
  return blocking === undefined ? 0 : Math.max(0, blocking + windowMs - now);
}
