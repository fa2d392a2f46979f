/** Answers that upstream servers gave, by question. @see RFC 1035 section 7.4, RFC 8767 */
import { DNS_RESPONSE_CODE, type DnsQuery } from "@lanthorn/packets";
import type { Answer } from "../messages/answer.ts";
import type { Question } from "../messages/question.ts";

/** One question's answer. */
export interface CachedAnswer {
  readonly answer: Answer;
  /** Milliseconds of the monotonic clock. */
  readonly cameAt: number;
  readonly expiresAt: number;
  /** How often it was given since it came. */
  uses: number;
  /** Since the cache last looked for what to forget. */
  isUsed: boolean;
}

/** What is known, within a bound of bytes. */
export interface AnswerCache {
  /** @returns What came last, which may have expired; undefined where nothing did. */
  find(key: string): CachedAnswer | undefined;
  put(key: string, answer: Answer, now: number): void;
  readonly size: number;
  /** An estimate: the messages, and what an entry costs besides. */
  readonly bytes: number;
}

/** What V8 takes for an entry beside its bytes: objects, the key, its place in the map. Measured with 100,000 answers. */
const ENTRY_BYTES = 420;

/** One answer that comes never costs more than this: with all of 100,000 entries in use, a round would take 20 ms. */
const MOST_SPARED = 64;

/**
 * Full, it forgets what was not used since it last looked: a clock's hand goes over the entries from the oldest on.
 * @param maxBytes At least one answer stays.
 */
export function createAnswerCache({ maxBytes }: { readonly maxBytes: number }): AnswerCache {
  const entries = new Map<string, CachedAnswer>();
  let bytes = 0;
  const drop = (key: string, entry: CachedAnswer) => {
    entries.delete(key);
    bytes -= costOf(entry.answer);
  };
  const makeRoom = () => {
    let spared = 0;
    for (const [key, entry] of entries) {
      if (bytes <= maxBytes || entries.size === 1) return;
      if (!entry.isUsed || spared === MOST_SPARED) {
        drop(key, entry);
        continue;
      }
      spared += 1;
      entry.isUsed = false;
      entries.delete(key);
      entries.set(key, entry);
    }
  };
  return {
    find(key) {
      const entry = entries.get(key);
      if (entry) entry.isUsed = true;
      return entry;
    },
    put(key, answer, now) {
      const before = entries.get(key);
      // A failure does not push out what may still be given when it is stale.
      if (before && isFailure(answer) && !isFailure(before.answer)) return;
      if (before) drop(key, before);
      entries.set(key, { answer, cameAt: now, expiresAt: now + answer.lifeSeconds * 1000, uses: 0, isUsed: false });
      bytes += costOf(answer);
      makeRoom();
    },
    get size() {
      return entries.size;
    },
    get bytes() {
      return bytes;
    },
  };
}

function costOf({ bytes }: Answer): number {
  return bytes.length + ENTRY_BYTES;
}

function isFailure({ responseCode }: Answer): boolean {
  return responseCode !== DNS_RESPONSE_CODE.noError && responseCode !== DNS_RESPONSE_CODE.nameError;
}

const scratch = Buffer.alloc(3 + 255);

/** What two queries with the same answer share: name in any case of letters, type, whether DNSSEC records or unverified ones are welcome. */
export function questionKey(asked: Uint8Array, { nameEnd, type, flags, edns }: DnsQuery): string {
  return keyOf(type, (edns?.isDnssecOk === true ? 1 : 0) | ((flags & 0x0010) !== 0 ? 2 : 0), asked, 12, nameEnd);
}

/** The same for a question of the resolver's own. */
export function keyOfQuestion({ name, type, isDnssecOk, isCheckingDisabled }: Question): string {
  return keyOf(type, (isDnssecOk ? 1 : 0) | (isCheckingDisabled ? 2 : 0), name, 0, name.length);
}

function keyOf(type: number, flags: number, bytes: Uint8Array, start: number, end: number): string {
  scratch[0] = type >>> 8;
  scratch[1] = type & 0xff;
  scratch[2] = flags;
  let to = 3;
  for (let at = start; at < end; at += 1, to += 1) {
    const byte = bytes[at] as number;
    scratch[to] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
  }
  return scratch.toString("latin1", 0, to);
}
