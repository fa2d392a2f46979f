/** What the API takes from a person by its defaults, until an answer has said more or less. */
const FIRST = { perSecond: 10, perMinute: 60 };
/** Left for a second window. */
const MARGIN = 2;
/** A little more than the second and the minute that the collector counts by: requests arrive closer together than they were sent. */
const SECOND_MS = 1150;
const MINUTE_MS = 61_000;
/** Who waits for longer is to know why. */
const LONG_MS = 2000;

/** Keeps the requests of one token within the API's limits for a second and for a minute. */
export interface Pace {
  /** Waits until one more request is within them; whoever asked first goes first. */
  take(): Promise<void>;
  /** What the collector says of its limits with an answer: `X-RateLimit-Limit` (of a minute) and `X-RateLimit-Remaining` (of the tighter one). */
  learn(headers: { get(name: string): string | null }): void;
  /** Another token begins with nothing used. */
  renew(): void;
}

/**
 * @param deps.after Runs a task after so many milliseconds.
 * @param deps.onHeld Requests wait for the limit of a minute until then.
 */
export function createPace({ now, after, onHeld }: {
  readonly now: () => number; readonly after: (delayMs: number, task: () => void) => () => void; readonly onHeld: (until: number) => void;
}): Pace {
  /** When the requests of the last minute were, or will be, sent. */
  let sentAt: readonly number[] = [];
  let perMinute = FIRST.perMinute;
  /** The most that was left once, with the request that it was answered to; null until an answer came. */
  let most: number | null = null;

  /** When the one before which so many others may go has left the window. */
  const roomAt = (limit: number, windowMs: number) => (sentAt.at(-Math.max(1, limit - MARGIN)) ?? Number.NEGATIVE_INFINITY) + windowMs;

  return {
    take() {
      const asked = now();
      sentAt = sentAt.filter((sent) => sent > asked - MINUTE_MS);
      const at = Math.max(asked, roomAt(most ?? FIRST.perSecond, SECOND_MS), roomAt(perMinute, MINUTE_MS));
      sentAt = [...sentAt, at];
      if (at === asked) return Promise.resolve();
      if (at - asked > LONG_MS) onHeld(at);
      return new Promise((resolve) => {
        after(at - asked, resolve);
      });
    },
    learn(headers) {
      const [limit, remaining] = [numberOf(headers.get("x-ratelimit-limit")), numberOf(headers.get("x-ratelimit-remaining"))];
      if (limit !== null) perMinute = limit;
      if (remaining !== null) most = Math.max(most ?? 0, remaining + 1);
    },
    renew() {
      sentAt = [];
    },
  };
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}
