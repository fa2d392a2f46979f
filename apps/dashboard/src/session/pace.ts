/** What the API lets any person do in a second by its defaults is ten, until an answer has said more or less. */
const FIRST_BURST = 10;
/** Left for a second window. */
const MARGIN = 2;
/** A little more than the second that the collector counts by: requests arrive closer together than they were sent. */
const WINDOW_MS = 1150;

/** Keeps the requests of one token within the API's limit for a second. */
export interface Pace {
  /** Waits until one more request is within it; whoever asked first goes first. */
  take(): Promise<void>;
  /** @param remaining How many more the collector would have taken, as an answer's `X-RateLimit-Remaining` says; null where it says nothing. */
  learn(remaining: string | null): void;
  /** Another token begins with nothing used. */
  renew(): void;
}

/** @param deps.after Runs a task after so many milliseconds. */
export function createPace(deps: { readonly now: () => number; readonly after: (delayMs: number, task: () => void) => () => void }): Pace {
  /** When the last requests were, or will be, sent. */
  let sentAt: readonly number[] = [];
  /** The most that was left once, with the request that it was answered to; null until an answer came. */
  let most: number | null = null;
  const burst = () => Math.max(1, (most ?? FIRST_BURST) - MARGIN);
  return {
    take() {
      const now = deps.now();
      const oldest = sentAt.at(-burst());
      const at = oldest === undefined ? now : Math.max(now, oldest + WINDOW_MS);
      sentAt = [...sentAt.filter((sent) => sent > now - WINDOW_MS), at];
      return at === now ? Promise.resolve() : new Promise((resolve) => {
        deps.after(at - now, resolve);
      });
    },
    learn(remaining) {
      if (remaining !== null && /^\d{1,6}$/.test(remaining)) most = Math.max(most ?? 0, Number(remaining) + 1);
    },
    renew() {
      sentAt = [];
    },
  };
}
