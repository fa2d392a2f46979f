/** What the API lets any person do in a second is ten; a margin is left for a second window. */
const BURST = 8;
/** A little more than the second that the collector counts by: requests arrive closer together than they were sent. */
const WINDOW_MS = 1150;

/** @returns What waits until one more request keeps within the API's limit for a second; whoever asked first goes first. */
export function createPace(deps: { readonly now: () => number; readonly after: (delayMs: number, task: () => void) => () => void }): () => Promise<void> {
  /** When the last requests were, or will be, sent. */
  let sentAt: readonly number[] = [];
  return () => {
    const now = deps.now();
    const oldest = sentAt.at(-BURST);
    const at = oldest === undefined ? now : Math.max(now, oldest + WINDOW_MS);
    sentAt = [...sentAt, at].slice(-BURST);
    return at === now ? Promise.resolve() : new Promise((resolve) => {
      deps.after(at - now, resolve);
    });
  };
}
