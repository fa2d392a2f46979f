/** Frames a second, found by trying: up while nothing is lost, down at once when something is. */
export interface ScanRate {
  readonly framesPerSecond: number;
  /** A frame went out that should be answered. */
  sent(): void;
  answered(): void;
  /** Whether so few answer that what is lost would not show: then controls must tell. */
  readonly isBlind: boolean;
  /** A frame that had to be answered was, or was not. @param askedAt By the clock of `look`. */
  controlled(askedAt: number, isAnswered: boolean): void;
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
/** Of fewer answers than this, what is lost does not show. */
const BLIND_BELOW = 0.05;
/** Without any answer nothing tells of losses: no faster than this. */
const BLIND_SHARE = 0.5;
/** So many outcomes of controls are judged together; more than a tenth of them lost is too many. */
const CONTROLS_JUDGED = 32;
const CONTROLS_LOST = 0.1;
/** So long a judgement holds. */
const CONTROLS_HOLD_MS = 500;

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
  let slowedAt = Number.NEGATIVE_INFINITY;
  let controls = 0;
  let controlsLost = 0;
  let controlsJudgedAt = Number.NEGATIVE_INFINITY;
  const slow = () => {
    slowedAt = windowAt;
    controls = 0;
    controlsLost = 0;
    // What was too fast once is not tried again at once.
    ceiling = Math.max(least, framesPerSecond * 0.9);
    framesPerSecond = Math.max(least, framesPerSecond * SLOWER);
  };
  /** @returns Whether too many controls were lost. */
  const judgeControls = (now: number): boolean => {
    if (controls < CONTROLS_JUDGED) return false;
    const isLossy = controlsLost > controls * CONTROLS_LOST;
    controls = 0;
    controlsLost = 0;
    controlsJudgedAt = now;
    return isLossy;
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
    get isBlind() {
      return share <= BLIND_BELOW;
    },
    controlled(askedAt, isAnswered) {
      // What was asked before it went slower says nothing of how it goes now.
      if (askedAt < slowedAt) return;
      controls += 1;
      if (!isAnswered) controlsLost += 1;
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
      const isLossy = dropped() > 0 || (share > BLIND_BELOW && isFewer) || judgeControls(now);
      share = Math.max(ratio, share * 0.98);
      if (isLossy) slow();
      else {
        ceiling = Math.min(most, ceiling * 1.02);
        const isTold = share > BLIND_BELOW || now - controlsJudgedAt < CONTROLS_HOLD_MS;
        framesPerSecond = Math.min(framesPerSecond * FASTER, isTold ? ceiling : Math.max(first, ceiling * BLIND_SHARE));
      }
      sentBefore = sent;
      sent = 0;
      answered = 0;
    },
    backOff: slow,
  };
}
