import { createAnswerTally } from "./answer-tally.ts";
import { createLossTally } from "./loss-tally.ts";

/** Frames a second, found by trying: up while nothing is lost, down at once when something is. */
export interface ScanRate {
  readonly framesPerSecond: number;
  /** Answers are missing that may only be late: nothing more is to be sent until they have come, or are taken for lost. */
  readonly isWaiting: boolean;
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

/** As long as answers need on a LAN. */
const WINDOW_MS = 25;
/**
 * More are not taken for lost at once: whoever answers, or the processor that reads, may have been busy with something else. Nothing is sent
 * meanwhile; what has not come after so long is lost.
 */
const LATE_MS = 100;
const FASTER = 1.6;
const SLOWER = 0.6;
/** Once something was lost: slower it has to go well for a while, and then it grows in small steps. */
const FASTER_AGAIN = 1.1;
const HOLD_MS = 100;
/** Without any answer nothing tells of losses: no faster than this. */
const BLIND_SHARE = 0.5;

/** @param options.most Frames a second; never exceeded. */
export function createScanRate(options: { readonly first: number; readonly most: number; readonly least: number }): ScanRate {
  const { most } = options;
  const [first, least] = [Math.min(options.first, most), Math.min(options.least, most)];
  let framesPerSecond = first;
  let ceiling = most;
  let windowAt = Number.NEGATIVE_INFINITY;
  let slowedAt = Number.NEGATIVE_INFINITY;
  /** Since when missing answers are waited for; null while they are not. */
  let waitingSince: number | null = null;
  const tally = createAnswerTally();
  const lossTally = createLossTally();
  const slow = () => {
    // What happens within one window is one loss.
    if (windowAt === slowedAt) return;
    slowedAt = windowAt;
    waitingSince = null;
    tally.forgetMissing();
    lossTally.reset();
    // What was too fast once is not tried again at once.
    ceiling = Math.max(least, framesPerSecond * 0.9);
    framesPerSecond = Math.max(least, framesPerSecond * SLOWER);
  };
  const growth = () => {
    if (slowedAt === Number.NEGATIVE_INFINITY) return FASTER;
    return windowAt - slowedAt < HOLD_MS ? 1 : FASTER_AGAIN;
  };
  const grow = (now: number) => {
    ceiling = Math.min(most, ceiling * 1.02);
    const isPublished = !tally.isBlind || lossTally.isJudged(now);
    framesPerSecond = Math.min(framesPerSecond * growth(), isPublished ? ceiling : Math.max(first, ceiling * BLIND_SHARE));
  };
  return {
    get framesPerSecond() {
      return framesPerSecond;
    },
    get isWaiting() {
      return waitingSince !== null;
    },
    sent: tally.sent,
    answered: tally.answered,
    get isBlind() {
      return tally.isBlind;
    },
    noteLossProbe(askedAt, isAnswered) {
      // What was asked before it went slower says nothing of how it goes now.
      if (askedAt >= slowedAt) lossTally.note(isAnswered);
    },
    askOthers() {
      tally.startAnew();
      waitingSince = null;
    },
    look(now, dropped) {
      if (now - windowAt < WINDOW_MS) return;
      const isFirst = windowAt === Number.NEGATIVE_INFINITY;
      windowAt = now;
      if (isFirst) return;
      const judgement = tally.judge();
      const isLost = dropped() > 0 || lossTally.judge(now);
      if (waitingSince !== null && judgement === "complete") waitingSince = null;
      if (isLost || (waitingSince !== null && now - waitingSince >= LATE_MS)) slow();
      else if (judgement === "missing") waitingSince ??= now;
      else if (waitingSince === null) grow(now);
    },
    backOff: slow,
  };
}
