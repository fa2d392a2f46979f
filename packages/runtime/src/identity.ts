import { createHash, randomFillSync } from "node:crypto";
import { v7 } from "uuid";

const ID_BYTES = 16;
/** Randomness of 256 ids is fetched at a time: a call for each took longer than the rest of it. */
const pool = new Uint8Array(256 * ID_BYTES);
let taken = pool.length;
/** The time and the count within it that the last id has. */
let counted = { msecs: -Infinity, seq: 0 };

/** A new UUIDv7: later ones sort after earlier ones, those of one process strictly. @see RFC 9562 sections 5.7 and 6.2 */
export function createId(): string {
  if (taken === pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  const random = pool.subarray(taken, taken + ID_BYTES);
  taken += ID_BYTES;
  counted = nextCount(counted, Date.now(), random);
  return v7({ random, ...counted });
}

/** The count begins anywhere in the lower half of its 32 bits in each millisecond, and borrows the next one where it is full. */
function nextCount({ msecs, seq }: typeof counted, now: number, random: Uint8Array): typeof counted {
  if (now > msecs) {
    const [a = 0, b = 0, c = 0, d = 0] = random;
    return { msecs: now, seq: ((a & 0x7f) << 24) | (b << 16) | (c << 8) | d };
  }
  const next = (seq + 1) >>> 0;
  return { msecs: next === 0 ? msecs + 1 : msecs, seq: next };
}

/** The same UUIDv8 for the same texts in the same order, and no other's, made by SHA-256. @see RFC 9562 section 5.8 */
export function derivedId(...texts: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(texts)).digest().subarray(0, ID_BYTES);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/**
 * The id of the alert that a collector makes of a probe's incident, so that the probe knows it without having asked.
 * @param probeId The probe that was authenticated, so that no probe can take another's ids.
 * @param incidentId `RogueDetected.incident_id`.
 */
export function alertIdOf(probeId: string, incidentId: string): string {
  return derivedId("alert", probeId, incidentId);
}

/** The last moment that was written: many events come within one millisecond. */
let last = { milliseconds: Number.NaN, text: "" };

/** A moment as it crosses processes: ISO 8601, UTC, milliseconds. @throws RangeError for what is no moment. */
export function toInstant(milliseconds: number): string {
  if (milliseconds !== last.milliseconds) last = { milliseconds, text: new Date(milliseconds).toISOString() };
  return last.text;
}
