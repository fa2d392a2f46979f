import { processorMs } from "@lanthorn/runtime";
import type { FoundRegex } from "./find-regexes.ts";
import { type PumpedText, pumpedTexts } from "./pump-texts.ts";

/** A regex and the text that shows how its time grows. */
export interface SlowRegex {
  readonly place: string;
  readonly regex: string;
  readonly text: PumpedText;
  /** At 4,096, 16,384 and 65,536 letters; longer ones are absent where the one before took too long already. */
  readonly milliseconds: readonly number[];
}

const LENGTHS = [4096, 16_384, 65_536] as const;
/** Of the middle length; what takes less is not looked at again. A regex that reads each letter once takes 0.02 to 0.3 ms. */
const SUSPICIOUS_MS = 2;
/** Longer lengths are not tried once one took so long: a hang is proven. */
const HANG_MS = 400;
/** From one length to the next, four times as long: nothing longer is needed to see that it is a square. */
const CLEAR_GROWTH = 9;
const CLEAR_MS = 20;
/** Sixteen times the text may take so many times the time; a square takes 256. */
const MAX_GROWTH = 64;
/** So many letters' work is what a regex may do with a letter, and no more. Compared with one that does a known number. */
const MAX_WORK_PER_LETTER = 400;
const RUNS = 5;
/** All of them must say that it is slow. */
const MEASUREMENTS = 3;

/** @returns The first text on which the regex takes more than a time in proportion to its length, or null. */
export function findSlowText({ place, pattern, flags }: FoundRegex): SlowRegex | null {
  const run = runner(pattern, flags);
  for (const text of pumpedTexts(pattern, flags)) {
    const early = hangsEarly(run, text);
    if (early !== null) return { place, regex: `/${pattern}/${flags}`, text, milliseconds: [early] };
    const once = time(run, written(text, LENGTHS[0]));
    const suspicious = once > SUSPICIOUS_MS ? once : time(run, written(text, LENGTHS[1]));
    if (suspicious <= SUSPICIOUS_MS) continue;
    let milliseconds = measured(run, text);
    // What is not clear must be so again and again.
    for (let more = 1; more < MEASUREMENTS && milliseconds.length === LENGTHS.length && isSlow(milliseconds); more += 1) {
      milliseconds = measured(run, text);
    }
    if (isSlow(milliseconds)) return { place, regex: `/${pattern}/${flags}`, text, milliseconds };
  }
  return null;
}

/** Turns of a pump that grow so slowly that what doubles with each is met before it takes for ever. */
const FEW_TURNS = [...Array.from({ length: 16 }, (_, index) => 4 * (index + 1)), 96, 144, 216, 324, 486, 729, 1094, 1640, 2460];
const EARLY_MS = 60;

/** @returns How long a text of a few hundred pumps took, where that is a hang; else null. */
function hangsEarly(run: (text: string) => unknown, { prefix, pump, suffix }: PumpedText): number | null {
  for (const turns of FEW_TURNS) {
    const text = prefix + pump.repeat(turns) + suffix;
    if (text.length > LENGTHS[0]) break;
    // Once more by the processor's time, since a busy machine may have stood still during the first.
    const took = time(run, text) > EARLY_MS ? processorMs(() => void run(text)) : 0;
    if (took > EARLY_MS) return took;
  }
  return null;
}

/** What a global one finds is replaced, as its users do. */
function runner(pattern: string, flags: string): (text: string) => unknown {
  const regex = new RegExp(pattern, flags);
  return flags.includes("g") ? (text) => text.replace(regex, "") : (text) => {
    regex.lastIndex = 0;
    return regex.exec(text);
  };
}

/** @returns The text of the length, at least once pumped. */
export function written({ prefix, pump, suffix }: PumpedText, length: number): string {
  const turns = Math.max(1, Math.floor((length - prefix.length - suffix.length) / pump.length));
  // In one piece, as text that came over a wire is.
  return Buffer.from(prefix + pump.repeat(turns) + suffix).toString();
}

function time(run: (text: string) => unknown, text: string): number {
  const startedAt = process.hrtime.bigint();
  run(text);
  return Number(process.hrtime.bigint() - startedAt) / 1e6;
}

/** The best of several runs, since a busy machine only ever adds. */
function measured(run: (text: string) => unknown, text: PumpedText): readonly number[] {
  const results: number[] = [];
  for (const length of LENGTHS) {
    const pumped = written(text, length);
    let best = Infinity;
    // What seems clear is measured three times: the other tests of this process leave garbage that is collected in between.
    const isOpen = (turn: number) => best < CLEAR_MS || (turn < 3 && best < HANG_MS);
    for (let turn = 0; turn < RUNS && (turn === 0 || isOpen(turn)); turn += 1) best = Math.min(best, processorMs(() => void run(pumped)));
    const before = results.at(-1) ?? Infinity;
    results.push(best);
    if (best > HANG_MS || (best > CLEAR_MS && best / before > CLEAR_GROWTH)) break;
  }
  return results;
}

function isSlow(milliseconds: readonly number[]): boolean {
  const [first = 0, second = 0, third] = milliseconds;
  if (third === undefined || third / Math.max(first, 0.01) > MAX_GROWTH) return true;
  return second > MAX_WORK_PER_LETTER * LENGTHS[1] * millisecondsPerLetter();
}

/** What this machine takes now for one letter of one comparison: other work makes it slower from one minute to the next. */
function millisecondsPerLetter(): number {
  const text = Buffer.alloc(LENGTHS[2], "ab").toString();
  const run = runner("^(?:[ab])*c", "");
  for (let turn = 0; turn < 10; turn += 1) run(text);
  return Math.min(...Array.from({ length: 10 }, () => processorMs(() => void run(text)))) / LENGTHS[2];
}
