import { type Clock, createBackoff, describeError, type Log } from "@lanthorn/runtime";

/** Renews the certificate when two thirds of its life are over. */
export interface RenewalSchedule {
  close(): void;
}

const CHECK_MS = 86_400_000;
/** A collector that issues certificates which are due at once must not be asked without a pause. */
const SOONEST_MS = 10_000;
const RETRY_FIRST_MS = 60_000;
const RETRY_LONGEST_MS = 6 * 3_600_000;
const RENEW_AFTER = 2 / 3;

/**
 * Checks at once and then daily; after a failure again sooner, at growing intervals.
 * @param deps.renew Gets a new certificate and keeps it; a rejection is logged and tried again.
 * @param deps.onRenewed The new one is in place: time to use it.
 */
export function createRenewalSchedule(deps: {
  /** Milliseconds since the epoch. */
  readonly lifetime: () => { readonly from: number; readonly to: number };
  readonly renew: () => Promise<void>;
  readonly onRenewed: () => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}): RenewalSchedule {
  const { clock, log } = deps;
  const backoff = createBackoff({ firstMs: RETRY_FIRST_MS, longestMs: RETRY_LONGEST_MS, random: deps.random });
  let cancel = () => {};
  let closed = false;

  function dueAt(): number {
    const { from, to } = deps.lifetime();
    return from + (to - from) * RENEW_AFTER;
  }

  async function check(): Promise<void> {
    let waitMs = CHECK_MS;
    try {
      if (clock.now() >= dueAt()) {
        await deps.renew();
        backoff.reset();
        log.info({ until: new Date(deps.lifetime().to).toISOString() }, "the certificate was renewed");
        if (!closed) deps.onRenewed();
      }
      waitMs = Math.min(CHECK_MS, Math.max(SOONEST_MS, dueAt() - clock.now()));
    } catch (error) {
      waitMs = RETRY_FIRST_MS + backoff.next();
      log.warn({ reason: describeError(error), retry_in_seconds: Math.round(waitMs / 1000) }, "the certificate could not be renewed");
    }
    if (!closed) cancel = clock.after(waitMs, () => void check());
  }
  void check();
  return {
    close() {
      closed = true;
      cancel();
    },
  };
}
