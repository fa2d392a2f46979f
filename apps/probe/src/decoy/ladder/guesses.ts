/** Which credentials were tried, each once: until the daemon has taken them, and not longer. */
import { createHmac, randomBytes } from "node:crypto";
import type { HoneypotCredentials } from "@lanthorn/contract/uplink";
import { createBoundedMap } from "../../bounded-map.ts";

type Tried = HoneypotCredentials["tried"][number];

/** What is kept of what was tried. */
export interface Guesses {
  /** @param incidentId Of the ladder. @param isProven Whether the source's address is its own: whoever forges addresses has as many incidents as they want, and takes no room from the others. */
  add(incidentId: string, decoy: string, tried: Tried, isProven: boolean): void;
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
/** Waiting: two kilobytes each at most. Known: to have been reported already; the oldest are forgotten, and would be reported again. */
const PROVEN: Bounds = { maxWaiting: 2048, maxKnown: 16_384 };
const UNPROVEN: Bounds = { maxWaiting: 256, maxKnown: 4096 };
const RESEND_MS = 30_000;
const MAX_OF_FLUSH = 25;

interface Bounds {
  readonly maxWaiting: number;
  readonly maxKnown: number;
}

interface Waiting {
  readonly decoy: string;
  readonly tried: Tried[];
  sent: { readonly number: number; readonly count: number; readonly atMs: number } | null;
}

/** @returns One that has seen nothing. It keeps no password that was taken, but a proof of it by a key of its own. */
export function createGuesses(): Guesses {
  const key = randomBytes(32);
  const [proven, unproven] = [createKept(PROVEN), createKept(UNPROVEN)];
  let lastNumber = 0;
  return {
    get size() {
      return proven.size + unproven.size;
    },
    add(incidentId, decoy, tried, isProven) {
      const kept = isProven ? proven : unproven;
      if (kept.size >= kept.maxWaiting || (kept.counts.get(incidentId) ?? 0) >= MAX_OF_INCIDENT) return;
      const proof = createHmac("sha256", key).update(JSON.stringify([incidentId, tried.service, tried.username, tried.password])).digest("base64url");
      if (kept.known.has(proof)) return;
      kept.known.put(proof, true);
      kept.counts.put(incidentId, (kept.counts.get(incidentId) ?? 0) + 1);
      const one = kept.waiting.get(incidentId) ?? { decoy, tried: [], sent: null };
      one.tried.push(tried);
      kept.waiting.set(incidentId, one);
      kept.size += 1;
    },
    flush(nowMs, send) {
      let room = MAX_OF_FLUSH;
      for (const [incidentId, one] of [...proven.waiting, ...unproven.waiting]) {
        if (room === 0) return;
        if (one.sent && nowMs - one.sent.atMs < RESEND_MS) continue;
        if (!send(lastNumber + 1, { incident_id: incidentId, decoy: one.decoy, tried: [...one.tried] })) return;
        lastNumber += 1;
        one.sent = { number: lastNumber, count: one.tried.length, atMs: nowMs };
        room -= 1;
      }
    },
    taken(number) {
      for (const kept of [proven, unproven]) {
        for (const [incidentId, one] of kept.waiting) {
          if (one.sent?.number !== number) continue;
          kept.size -= one.tried.splice(0, one.sent.count).length;
          one.sent = null;
          if (one.tried.length === 0) kept.waiting.delete(incidentId);
          return;
        }
      }
    },
    lost() {
      for (const kept of [proven, unproven]) for (const one of kept.waiting.values()) one.sent = null;
    },
  };
}

function createKept({ maxWaiting, maxKnown }: Bounds) {
  return { size: 0, maxWaiting, waiting: new Map<string, Waiting>(), known: createBoundedMap<string, true>(maxKnown), counts: createBoundedMap<string, number>(maxKnown) };
}
