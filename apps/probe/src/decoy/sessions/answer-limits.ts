/** How much is sent to addresses that may be forged: whoever would use a decoy against another gains nothing by it. */
import { createRecent } from "./recent.ts";

/** Of all answers over UDP. */
export interface AnswerLimits {
  /** A datagram came. @returns Octets that its answer may have, and those where it cannot be shorter; 0 where none may be sent. */
  room(source: string, asked: number, nowMs: number): { readonly room: number; readonly mostRoom: number };
  /** So many were sent in answer to it. */
  sent(source: string, asked: number, octets: number, nowMs: number): void;
  /** The source has opened a connection, so the address is its own. */
  prove(source: string, nowMs: number): void;
}

/** One more answer each fifth of a second, and so many at once. */
const [PER_SECOND, BURST] = [5, 20];
/** Of all sources. */
const ALL_PER_SECOND = 500;
/** Octets beyond what it asked, for each source until it was silent for ten minutes: what a first look at SNMP takes. */
const ALLOWANCE = 1024;
/** The same of all sources, in a minute: what a flood of forged addresses gains at most. */
const ALL_ALLOWANCE = 16 * 1024;
const MINUTE_MS = 60_000;
const MAX_SOURCES = 4096;
/** An answer to who is proven, which fits a frame. */
const MAX_ANSWER = 1400;
const PROVEN_MS = 600_000;

interface Source {
  answers: number;
  allowance: number;
  atMs: number;
}

/** @returns One that has sent nothing. */
export function createAnswerLimits(): AnswerLimits {
  const sources = createRecent<Source>(MAX_SOURCES, PROVEN_MS);
  const proven = createRecent<true>(MAX_SOURCES, PROVEN_MS);
  const all = { answers: ALL_PER_SECOND, allowance: ALL_ALLOWANCE, atMs: 0 };
  const refill = (source: string, nowMs: number): Source => {
    const seconds = (nowMs - all.atMs) / 1000;
    all.answers = Math.min(ALL_PER_SECOND, all.answers + seconds * ALL_PER_SECOND);
    all.allowance = Math.min(ALL_ALLOWANCE, all.allowance + seconds * 1000 / MINUTE_MS * ALL_ALLOWANCE);
    all.atMs = nowMs;
    const own = sources.of(source, nowMs, () => ({ answers: BURST, allowance: ALLOWANCE, atMs: nowMs }));
    own.answers = Math.min(BURST, own.answers + (nowMs - own.atMs) / 1000 * PER_SECOND);
    own.atMs = nowMs;
    return own;
  };
  return {
    room(source, asked, nowMs) {
      const own = refill(source, nowMs);
      if (own.answers < 1 || all.answers < 1) return { room: 0, mostRoom: 0 };
      const isProven = proven.find(source, nowMs) !== null;
      return isProven ? { room: MAX_ANSWER, mostRoom: MAX_ANSWER } : { room: asked, mostRoom: asked + Math.floor(Math.min(own.allowance, all.allowance)) };
    },
    sent(source, asked, octets, nowMs) {
      const own = refill(source, nowMs);
      own.answers -= 1;
      all.answers -= 1;
      if (octets <= asked || proven.find(source, nowMs)) return;
      own.allowance -= octets - asked;
      all.allowance -= octets - asked;
    },
    prove: (source, nowMs) => void proven.of(source, nowMs, () => true),
  };
}
