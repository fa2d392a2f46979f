/** What the API takes from a person by its defaults, until an answer has said more or less. */
const FIRST = { perSecond: 10, perMinute: 60 };
/** Left for a second window. */
const MARGIN = 2;
/** A little more than the second and the minute that the collector counts by. A request is in them until so long after its answer: when it was counted, only the collector knows. */
const SECOND_MS = 1150;
const MINUTE_MS = 61_000;
/** Who waits for longer is to know why. */
const LONG_MS = 2000;

/** Keeps the requests of one token within the API's limits for a second and for a minute. */
export interface Pace {
  /** Waits until one more request is within them; whoever asked first goes first. To be followed by `answered`, whatever comes. */
  take(): Promise<void>;
  /** @param headers What the collector says of its limits: `X-RateLimit-Limit` (of a minute) and `X-RateLimit-Remaining` (of the tighter one); null where no answer came. */
  answered(headers: { get(name: string): string | null } | null): void;
  /** Another token, or none, begins with nothing used and nothing known. What waits goes on: it is another's no more. */
  renew(): void;
  /** Until when the next request waits, where that is for long; 0 where it is not. Milliseconds since the epoch. */
  heldUntil(): number;
}

/**
 * @param deps.after Runs a task after so many milliseconds. @returns What calls it off.
 * @param deps.onHeld `heldUntil` is another.
 */
export function createPace({ now, after, onHeld }: {
  readonly now: () => number; readonly after: (delayMs: number, task: () => void) => () => void; readonly onHeld: () => void;
}): Pace {
  /** When the answers of the last minute came, and how many are on their way. */
  let answeredAt: readonly number[] = [];
  let open = 0;
  let waiting: readonly (() => void)[] = [];
  let perMinute = FIRST.perMinute;
  /** The most that was left once, with the request that it was answered to; null until an answer came. */
  let most: number | null = null;
  let heldUntil = 0;
  let stop = () => {};

  /** When the one before which so many others may go has left the window. */
  const roomAt = (limit: number, windowMs: number) => {
    const before = Math.max(1, limit - MARGIN) - open;
    return before <= 0 ? Number.POSITIVE_INFINITY : (answeredAt.at(-before) ?? Number.NEGATIVE_INFINITY) + windowMs;
  };

  /** Lets those go that may, and comes back when the next one may. */
  function serve(): void {
    stop();
    const at = now();
    answeredAt = answeredAt.filter((answered) => answered > at - MINUTE_MS);
    let next = 0;
    for (;;) {
      next = Math.max(roomAt(most ?? FIRST.perSecond, SECOND_MS), roomAt(perMinute, MINUTE_MS));
      const [first, ...others] = waiting;
      if (first === undefined || next > at) break;
      waiting = others;
      open += 1;
      first();
    }
    // An answer brings the others back.
    const isTimed = waiting.length > 0 && next !== Number.POSITIVE_INFINITY;
    stop = isTimed ? after(next - at, serve) : () => {};
    const held = isTimed && next - at > LONG_MS ? next : 0;
    if (held === heldUntil) return;
    heldUntil = held;
    onHeld();
  }

  return {
    take: () => new Promise((resolve) => {
      waiting = [...waiting, resolve];
      serve();
    }),
    answered(headers) {
      // Of a token that is another's no more, none is on its way.
      if (open > 0) [open, answeredAt] = [open - 1, [...answeredAt, now()]];
      const [limit, remaining] = [numberOf(headers?.get("x-ratelimit-limit") ?? null), numberOf(headers?.get("x-ratelimit-remaining") ?? null)];
      if (limit !== null) perMinute = limit;
      if (remaining !== null) most = Math.max(most ?? 0, remaining + 1);
      serve();
    },
    renew() {
      [answeredAt, open, most, perMinute] = [[], 0, null, FIRST.perMinute];
      serve();
    },
    heldUntil: () => heldUntil,
  };
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}
