/**
 * Whether something that falls silent is gone: one state for a host, one for each of its addresses.
 *
 * Sleeping phones answer one poll in three, so a fixed number of misses either flaps or is slow. Here the number grows with
 * how rarely this one answers: it is gone when its usual silence has become next to impossible, and never below the floors.
 */
export interface Watch {
  /** Last evidence of life, monotonic milliseconds; negative infinity for none since the start. */
  seenAt: number;
  /** From when silence counts: the last evidence, or later when nothing could have been heard before. */
  silentFrom: number;
  /** Polls without an answer since `silentFrom`. */
  misses: number;
  /** When the poll was sent whose answer is waited for, or null. */
  askedAt: number | null;
  /** Polls sent and answered while it was there, the older ones fading. */
  asked: number;
  answered: number;
}

/** A busy host is never polled; below this the checks of a quiet network would outnumber its own traffic. */
export const CHECK_AFTER_MS = 30_000;
/** Phones that doze wake for a buffered frame within about two seconds (aceberg/WatchYourLAN#65); the rest is for a slow air. */
export const ANSWER_WAIT_MS = 5000;
/** Nobody is taken for gone after a shorter silence, however reliably it answered before. */
export const OFFLINE_FLOOR_MS = 120_000;
/** Nor after fewer polls without an answer. */
export const OFFLINE_FLOOR_MISSES = 3;
/** When nobody at all answers although the link is up, for so long, nobody is there. */
export const SILENCE_BELIEVED_MS = 600_000;

/** A present host is taken for gone once in this many silences. A hundred phones make two million in a year. */
const FALSE_OFFLINE_ODDS = 1e-7;
/** About five minutes of polls: below one answer in five, waiting longer shows nothing. */
const MAX_MISSES = 60;
/**
 * Of who answers at least every second poll, newcomers too: three minutes in all. Of sleepers that begin so
 * one in 75,000 is lost.
 */
const MAX_MISSES_OF_GOOD = 30;
/** Half of the memory goes when it is full, so that a phone which turns into a docked laptop is believed anew. */
const MEMORY_POLLS = 256;
/** What is assumed of everyone before the first poll: two answers and a miss. */
const ASSUMED = { answered: 2, asked: 3 };

/** @param silentFrom Monotonic milliseconds. */
export function createWatch(silentFrom: number, rate?: { readonly asked: number; readonly answered: number }): Watch {
  return { seenAt: Number.NEGATIVE_INFINITY, silentFrom, misses: 0, askedAt: null, asked: rate?.asked ?? 0, answered: rate?.answered ?? 0 };
}

/** Evidence of life, asked for or not. */
export function noteSeen(watch: Watch, now: number): void {
  if (watch.misses > 0 || watch.askedAt !== null) {
    watch.asked += watch.misses + (watch.askedAt === null ? 0 : 1);
    watch.answered += watch.askedAt === null ? 0 : 1;
    if (watch.asked > MEMORY_POLLS) {
      watch.asked /= 2;
      watch.answered /= 2;
    }
    watch.misses = 0;
    watch.askedAt = null;
  }
  watch.seenAt = now;
  watch.silentFrom = now;
}

/** A poll of it is on the wire. */
export function notePolled(watch: Watch, now: number): void {
  watch.askedAt ??= now;
}

/**
 * Ends a poll that had its time. @param counts Whether silence means anything: the link works.
 * @returns Whether a poll ended.
 */
export function endPoll(watch: Watch, now: number, counts: boolean): boolean {
  if (watch.askedAt === null || now - watch.askedAt < ANSWER_WAIT_MS) return false;
  watch.askedAt = null;
  if (counts) watch.misses += 1;
  return true;
}

/** Nothing could be heard until `now`: what was missed says nothing. */
export function startAnew(watch: Watch, now: number): void {
  watch.misses = 0;
  watch.askedAt = null;
  watch.silentFrom = Math.max(watch.silentFrom, now);
}

/**
 * How many misses in a row this one needs before its silence is believed: so many that they are next to impossible for one that is there,
 * whatever its rate of answers may be that has shown itself as it has. The share of each rate is a beta distribution, so the chance of the
 * next miss is the share of misses so far, those of the row included; a lucky beginning makes no sleeper look dependable.
 */
export function missesNeeded(watch: Watch): number {
  const answered = watch.answered + ASSUMED.answered;
  const asked = watch.asked + ASSUMED.asked;
  const most = answered * 2 >= asked ? MAX_MISSES_OF_GOOD : MAX_MISSES;
  let odds = 1;
  let misses = 0;
  for (; misses < most && odds > FALSE_OFFLINE_ODDS; misses += 1) odds *= (asked - answered + misses) / (asked + misses);
  return Math.max(misses, OFFLINE_FLOOR_MISSES);
}

/** Whether it missed enough polls over enough time. */
export function isGone(watch: Watch, now: number, needed: number): boolean {
  return watch.misses >= needed && now - watch.silentFrom >= OFFLINE_FLOOR_MS;
}
