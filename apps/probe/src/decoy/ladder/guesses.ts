/** Which credentials were tried, each once: until the daemon has taken them, and not longer. */
import { createHmac, randomBytes } from "node:crypto";
import type { HoneypotCredentials } from "@lanthorn/contract/uplink";

type Tried = HoneypotCredentials["tried"][number];

/** What is kept of what was tried. */
export interface Guesses {
  /** @param incidentId Of the ladder. */
  add(incidentId: string, decoy: string, tried: Tried): void;
  /** Sends what waits. @param send Whether it went out. */
  flush(nowMs: number, send: (number: number, credentials: HoneypotCredentials) => boolean): void;
  /** The daemon has written down the message of this number. */
  taken(number: number): void;
  /** The daemon is gone: what it did not take waits again. */
  lost(): void;
  /** Pairs that wait. */
  readonly size: number;
}

/** A thousand guesses say no more than the first of them. */
const MAX_OF_INCIDENT = 64;
/** Two kilobytes each at most. */
const MAX_WAITING = 2048;
/** What is known to have been reported already; the oldest are forgotten, and would be reported again. */
const MAX_KNOWN = 16_384;
const RESEND_MS = 30_000;
const MAX_OF_FLUSH = 25;

interface Waiting {
  readonly decoy: string;
  readonly tried: Tried[];
  sent: { readonly number: number; readonly count: number; readonly atMs: number } | null;
}

/** @returns One that has seen nothing. It keeps no password that was taken, but a proof of it by a key of its own. */
export function createGuesses(): Guesses {
  const key = randomBytes(32);
  const known = new Set<string>();
  const counts = new Map<string, number>();
  const waiting = new Map<string, Waiting>();
  let [size, lastNumber] = [0, 0];
  const remember = (incidentId: string, proof: string) => {
    known.add(proof);
    if (known.size > MAX_KNOWN) forgetOldest(known);
    counts.set(incidentId, (counts.get(incidentId) ?? 0) + 1);
    if (counts.size > MAX_KNOWN) forgetOldest(counts);
  };
  return {
    get size() {
      return size;
    },
    add(incidentId, decoy, tried) {
      if (size >= MAX_WAITING || (counts.get(incidentId) ?? 0) >= MAX_OF_INCIDENT) return;
      const proof = createHmac("sha256", key).update(JSON.stringify([incidentId, tried.service, tried.username, tried.password])).digest("base64url");
      if (known.has(proof)) return;
      remember(incidentId, proof);
      const one = waiting.get(incidentId) ?? { decoy, tried: [], sent: null };
      one.tried.push(tried);
      waiting.set(incidentId, one);
      size += 1;
    },
    flush(nowMs, send) {
      let room = MAX_OF_FLUSH;
      for (const [incidentId, one] of waiting) {
        if (room === 0) return;
        if (one.sent && nowMs - one.sent.atMs < RESEND_MS) continue;
        if (!send(lastNumber + 1, { incident_id: incidentId, decoy: one.decoy, tried: [...one.tried] })) return;
        lastNumber += 1;
        one.sent = { number: lastNumber, count: one.tried.length, atMs: nowMs };
        room -= 1;
      }
    },
    taken(number) {
      for (const [incidentId, one] of waiting) {
        if (one.sent?.number !== number) continue;
        size -= one.tried.splice(0, one.sent.count).length;
        one.sent = null;
        if (one.tried.length === 0) waiting.delete(incidentId);
        return;
      }
    },
    lost() {
      for (const one of waiting.values()) one.sent = null;
    },
  };
}

function forgetOldest(of: Set<string> | Map<string, number>): void {
  const oldest = of.keys().next().value;
  if (oldest !== undefined) of.delete(oldest);
}
