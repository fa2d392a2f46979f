/** Frames a second, found by trying: up while nothing is lost, down at once when something is. */
export interface ScanRate {
  readonly framesPerSecond: number;
  /** A frame went out that should be answered. */
  sent(): void;
  answered(): void;
  /** Others are asked from here on, those that stayed silent: that they answer more seldom is no loss. */
  askOthers(): void;
  /** Looks at what came back of what was sent. Call it often. @param dropped Frames that came and found no room. */
  look(now: number, dropped: () => number): void;
  /** Something was lost for sure: an answer to a repetition, a full queue. */
  backOff(): void;
}

/** As long as answers need on a LAN; answers of one window are compared with what was sent in it and before it. */
const WINDOW_MS = 25;
/** Fewer say nothing. */
const FEWEST_IN_WINDOW = 64;
/** Answers are missing when their share falls by so much below what it was. */
const LOSS_SHARE = 0.85;
/** And by more than chance: so many times the square root of how many were to be expected. */
const LOSS_DEVIATIONS = 3;
const FASTER = 1.6;
const SLOWER = 0.6;
/** Without any answer nothing tells of losses: no faster than this. */
const BLIND_SHARE = 0.5;

/** @param options.most Frames a second; never exceeded. */
export function createScanRate(options: { readonly first: number; readonly most: number; readonly least: number }): ScanRate {
  const { most } = options;
  const [first, least] = [Math.min(options.first, most), Math.min(options.least, most)];
  let framesPerSecond = first;
  let ceiling = most;
  let windowAt = Number.NEGATIVE_INFINITY;
  let sent = 0;
  let answered = 0;
  let sentBefore = 0;
  let share = 0;
  const slow = () => {
    // What was too fast once is not tried again at once.
    ceiling = Math.max(least, framesPerSecond * 0.9);
    framesPerSecond = Math.max(least, framesPerSecond * SLOWER);
  };
  return {
    get framesPerSecond() {
      return framesPerSecond;
    },
    sent() {
      sent += 1;
    },
    answered() {
      answered += 1;
    },
    askOthers() {
      share = 0;
      sent = 0;
      sentBefore = 0;
      answered = 0;
    },
    look(now, dropped) {
      if (now - windowAt < WINDOW_MS) return;
      const isFirst = windowAt === Number.NEGATIVE_INFINITY;
      windowAt = now;
      if (isFirst) return;
      // The smaller of both: answers are to the window before where they take long, and to this one where they do not.
      const asked = Math.min(sent, sentBefore);
      const ratio = asked >= FEWEST_IN_WINDOW ? Math.min(1, answered / asked) : share;
      const expected = share * asked;
      const isFewer = ratio < share * LOSS_SHARE && expected - answered > LOSS_DEVIATIONS * Math.sqrt(expected);
      const isLossy = dropped() > 0 || (share > 0.05 && isFewer);
      share = Math.max(ratio, share * 0.98);
      if (isLossy) slow();
      else {
        ceiling = Math.min(most, ceiling * 1.02);
        framesPerSecond = Math.min(framesPerSecond * FASTER, share > 0.05 ? ceiling : Math.max(first, ceiling * BLIND_SHARE));
      }
      sentBefore = sent;
      sent = 0;
      answered = 0;
    },
    backOff: slow,
  };
}
