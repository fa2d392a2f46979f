/** How much is sent to addresses that may be forged: whoever would use a decoy against another gains nothing by it. */
import { sourceNetwork } from "../../source-network.ts";
import { createTokenBucket, fillBucket, type TokenBucket } from "../../token-bucket.ts";
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

/** To each network as of `sourceNetwork`: one more answer each fifth of a second, and so many at once. */
const [PER_SECOND, BURST] = [5, 20];
/** Of all sources. */
const ALL_PER_SECOND = 500;
/** Octets beyond what it asked, for each source until it was silent for ten minutes: what a first look at SNMP takes. */
const ALLOWANCE = 1024;
/** The same of all sources, in a minute: what a flood of forged addresses gains at most. */
const ALL_ALLOWANCE = 16 * 1024;
const MINUTE_SECONDS = 60;
const MAX_SOURCES = 4096;
/** An answer to who is proven, which fits a frame. */
const MAX_ANSWER = 1400;
const PROVEN_MS = 600_000;

interface Source {
  readonly answers: TokenBucket;
  allowance: number;
}

/** @returns One that has sent nothing. */
export function createAnswerLimits(): AnswerLimits {
  const sources = createRecent<Source>(MAX_SOURCES, PROVEN_MS);
  const proven = createRecent<true>(MAX_SOURCES, PROVEN_MS);
  const all = { answers: createTokenBucket(ALL_PER_SECOND, ALL_PER_SECOND, 0), allowance: createTokenBucket(ALL_ALLOWANCE / MINUTE_SECONDS, ALL_ALLOWANCE, 0) };
  const refill = (source: string, nowMs: number): Source => {
    const own = sources.of(sourceNetwork(source), nowMs, () => ({ answers: createTokenBucket(PER_SECOND, BURST, nowMs), allowance: ALLOWANCE }));
    for (const bucket of [all.answers, all.allowance, own.answers]) fillBucket(bucket, nowMs);
    return own;
  };
  return {
    room(source, asked, nowMs) {
      const own = refill(source, nowMs);
      if (own.answers.tokens < 1 || all.answers.tokens < 1) return { room: 0, mostRoom: 0 };
      const isProven = proven.find(source, nowMs) !== null;
      return isProven ? { room: MAX_ANSWER, mostRoom: MAX_ANSWER } : { room: asked, mostRoom: asked + Math.floor(Math.min(own.allowance, all.allowance.tokens)) };
    },
    sent(source, asked, octets, nowMs) {
      const own = refill(source, nowMs);
      own.answers.tokens -= 1;
      all.answers.tokens -= 1;
      if (octets <= asked || proven.find(source, nowMs)) return;
      own.allowance -= octets - asked;
      all.allowance.tokens -= octets - asked;
    },
    prove: (source, nowMs) => void proven.of(source, nowMs, () => true),
  };
}
