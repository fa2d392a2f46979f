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
/** Of fewer answers than this, what is lost does not show. */
const BLIND_BELOW = 0.05;

/** Compares answers with what was asked, window by window. A window's answers are to what was sent in it and in the one before it. */
export interface AnswerTally {
  /** A frame went out that should be answered. */
  sent(): void;
  answered(): void;
  /** Whether so few answer that what is lost would not show. */
  readonly isBlind: boolean;
  /** Others are asked from here on: how many answered until now says nothing of them. */
  startAnew(): void;
  /** What is missing now is lost, and counts no longer. */
  forgetMissing(): void;
  /** Ends a window. @returns `missing` where more answers stay out than lateness and chance explain; `complete` where no more than by chance. */
  judge(): "complete" | "late" | "missing";
}

/** A tally in its first window. */
export function createAnswerTally(): AnswerTally {
  let sent = 0;
  let answered = 0;
  let sentBefore = 0;
  let missing = 0;
  /** Lately, in frames. */
  const lately = { sent: 0, answered: 0 };
  const share = () => (lately.sent < MIN_SENT ? 0 : Math.min(1, lately.answered / lately.sent));
  return {
    sent() {
      sent += 1;
    },
    answered() {
      answered += 1;
    },
    get isBlind() {
      return share() <= BLIND_BELOW;
    },
    startAnew() {
      Object.assign(lately, { sent: 0, answered: 0 });
      missing = 0;
      sent = 0;
      sentBefore = 0;
      answered = 0;
    },
    forgetMissing() {
      missing = 0;
    },
    judge() {
      // The smaller of both: answers are to the window before where they take long, and to this one where they do not.
      const asked = Math.min(sent, sentBefore);
      const usual = share();
      if (usual > BLIND_BELOW) missing = Math.max(0, missing + usual * asked * LOSS_SHARE - answered);
      lately.sent = lately.sent * FORGETTING + sent;
      lately.answered = lately.answered * FORGETTING + answered;
      sentBefore = sent;
      sent = 0;
      answered = 0;
      if (missing <= MISSING_BY_CHANCE) return "complete";
      return missing > LATE_WINDOWS * usual * Math.max(asked, lately.sent * (1 - FORGETTING)) ? "missing" : "late";
    },
  };
}
