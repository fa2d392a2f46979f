/** Evidence that waits until the daemon has taken it. */
import type { HoneypotEvidence } from "@lanthorn/contract/uplink";

/** What waits. */
export interface EvidenceQueue {
  /** @returns False where there is no room. */
  add(evidence: HoneypotEvidence): boolean;
  /** Sends what waits. @param send Whether it went out. */
  flush(nowMs: number, send: (number: number, evidence: HoneypotEvidence) => boolean): void;
  /** The daemon has written down the message of this number. */
  taken(number: number): void;
  /** The daemon is gone: what it did not take waits again. */
  lost(): void;
  readonly size: number;
  readonly leftOut: number;
}

const MAX_WAITING = 256;
/** Transcripts are the long ones. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
const RESEND_MS = 30_000;
/** Of one flush, so that hits are not held up. */
const MAX_OF_FLUSH = 4;

/** @returns One in which nothing waits. */
export function createEvidenceQueue(): EvidenceQueue {
  const waiting: { readonly evidence: HoneypotEvidence; readonly characters: number; sent: { readonly number: number; readonly atMs: number } | null }[] = [];
  let [characters, leftOut, lastNumber] = [0, 0, 0];
  return {
    get size() {
      return waiting.length;
    },
    get leftOut() {
      return leftOut;
    },
    add(evidence) {
      const own = 512 + (evidence.transcript?.length ?? 0);
      if (waiting.length >= MAX_WAITING || characters + own > MAX_CHARACTERS) {
        leftOut += 1;
        return false;
      }
      characters += own;
      return waiting.push({ evidence, characters: own, sent: null }) > 0;
    },
    flush(nowMs, send) {
      for (const one of waiting.filter(({ sent }) => !sent || nowMs - sent.atMs >= RESEND_MS).slice(0, MAX_OF_FLUSH)) {
        if (!send(lastNumber + 1, one.evidence)) return;
        lastNumber += 1;
        one.sent = { number: lastNumber, atMs: nowMs };
      }
    },
    taken(number) {
      const at = waiting.findIndex(({ sent }) => sent?.number === number);
      if (at >= 0) characters -= waiting.splice(at, 1)[0]?.characters ?? 0;
    },
    lost() {
      for (const one of waiting) one.sent = null;
    },
  };
}
