/** Frames a second, found by trying: up while nothing is lost, down at once when something is. */
export interface ScanRate {
  readonly framesPerSecond: number;
  /** A frame went out that should be answered. */
  sent(): void;
  answered(): void;
  /** Whether so few answer that what is lost would not show: then loss probes must say. */
  readonly isBlind: boolean;
  /** A frame that had to be answered was, or was not. @param askedAt By the clock of `look`. */
  noteLossProbe(askedAt: number, isAnswered: boolean): void;
  /** Others are asked from here on, those that stayed silent: that they answer more seldom is no loss. */
  askOthers(): void;
  /** Looks at what came back of what was sent. Call it often. @param dropped Frames that came and found no room. */
  look(now: number, dropped: () => number): void;
  /** Something was lost for sure: an answer to a repetition, a full queue. */
  backOff(): void;
}

/** As long as answers need on a LAN; answers of one window are compared with what was sent in it and before it. */
const WINDOW_MS = 25;
/** What was sent and answered counts by so much less with each window, so that the share is of the last half second. */
const FORGETTING = 0.95;
/** Fewer frames than this tell no share. */
const MIN_SENT = 64;
/** So much of the usual share may stay out, window by window, before answers count as missing. */
const LOSS_SHARE = 0.85;
/**
 * Missing answers are summed up, and what comes too many is taken off again (a CUSUM test: E. S. Page, "Continuous Inspection Schemes",
 * Biometrika 41, 1954). Somebody who is only busy for a moment answers late and all at once: so many windows' answers may be missing, ...
 */
const LATE_WINDOWS = 2;
/** ... and so many, which chance brings about in one of several thousand windows. */
const MISSING_BY_CHANCE = 30;
const FASTER = 1.6;
const SLOWER = 0.6;
/** Once something was lost: slower it has to go well for a while, and then it grows in small steps. */
const FASTER_AGAIN = 1.1;
const HOLD_MS = 100;
/** Of fewer answers than this, what is lost does not show. */
const BLIND_BELOW = 0.05;
/** Without any answer nothing tells of losses: no faster than this. */
const BLIND_SHARE = 0.5;
/** So many outcomes of loss probes are judged together; more than a tenth of them lost is too many. */
const LOSS_PROBES_JUDGED = 32;
const LOSS_PROBES_LOST = 0.1;
/** So long a judgement holds. */
const LOSS_PROBES_HOLD_MS = 500;

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
  /** Lately, in frames. */
  const lately = { sent: 0, answered: 0 };
  let missing = 0;
  let slowedAt = Number.NEGATIVE_INFINITY;
  const lossTally = createLossTally();
  const slow = () => {
    // What happens within one window is one loss.
    if (windowAt === slowedAt) return;
    slowedAt = windowAt;
    missing = 0;
    lossTally.reset();
    // What was too fast once is not tried again at once.
    ceiling = Math.max(least, framesPerSecond * 0.9);
    framesPerSecond = Math.max(least, framesPerSecond * SLOWER);
  };
  const growth = () => {
    if (slowedAt === Number.NEGATIVE_INFINITY) return FASTER;
    return windowAt - slowedAt < HOLD_MS ? 1 : FASTER_AGAIN;
  };
  const share = () => (lately.sent < MIN_SENT ? 0 : Math.min(1, lately.answered / lately.sent));
  /** Takes the window into account. @returns Whether more answers are missing than lateness and chance explain. */
  const judgeAnswers = (): boolean => {
    // The smaller of both: answers are to the window before where they take long, and to this one where they do not.
    const asked = Math.min(sent, sentBefore);
    const usual = share();
    if (usual > BLIND_BELOW) missing = Math.max(0, missing + usual * asked * LOSS_SHARE - answered);
    lately.sent = lately.sent * FORGETTING + sent;
    lately.answered = lately.answered * FORGETTING + answered;
    const aWindow = usual * Math.max(asked, lately.sent * (1 - FORGETTING));
    return missing > Math.max(MISSING_BY_CHANCE, LATE_WINDOWS * aWindow);
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
      return share() <= BLIND_BELOW;
    },
    noteLossProbe(askedAt, isAnswered) {
      // What was asked before it went slower says nothing of how it goes now.
      if (askedAt >= slowedAt) lossTally.note(isAnswered);
    },
    askOthers() {
      Object.assign(lately, { sent: 0, answered: 0 });
      missing = 0;
      sent = 0;
      sentBefore = 0;
      answered = 0;
    },
    look(now, dropped) {
      if (now - windowAt < WINDOW_MS) return;
      const isFirst = windowAt === Number.NEGATIVE_INFINITY;
      windowAt = now;
      if (isFirst) return;
      const isMissing = judgeAnswers();
      const isLossy = dropped() > 0 || isMissing || lossTally.judge(now);
      if (isLossy) slow();
      else {
        ceiling = Math.min(most, ceiling * 1.02);
        const isPublished = share() > BLIND_BELOW || lossTally.isJudged(now);
        framesPerSecond = Math.min(framesPerSecond * growth(), isPublished ? ceiling : Math.max(first, ceiling * BLIND_SHARE));
      }
      sentBefore = sent;
      sent = 0;
      answered = 0;
    },
    backOff: slow,
  };
}

/** Outcomes of frames that had to be answered, judged together. */
function createLossTally() {
  let outcomes = 0;
  let lost = 0;
  let judgedAt = Number.NEGATIVE_INFINITY;
  return {
    note(isAnswered: boolean): void {
      outcomes += 1;
      if (!isAnswered) lost += 1;
    },
    reset(): void {
      outcomes = 0;
      lost = 0;
    },
    /** @returns Whether too many were lost; they are forgotten then. */
    judge(now: number): boolean {
      if (outcomes < LOSS_PROBES_JUDGED) return false;
      const isLossy = lost > outcomes * LOSS_PROBES_LOST;
      outcomes = 0;
      lost = 0;
      judgedAt = now;
      return isLossy;
    },
    /** Whether the last judgement still holds. */
    isJudged: (now: number) => now - judgedAt < LOSS_PROBES_HOLD_MS,
  };
}
