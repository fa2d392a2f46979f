/** Lists with the days on which their lines were first seen: a line `#day 20781` is for those after it, up to the next one. */
import { createListReader, type ListFormat, type ListReader } from "./list-reader.ts";
import type { ListOptions } from "./line-parser.ts";
import type { ListRule } from "./list-rule.ts";

/** Gets each rule in the order of the lines, with its day since 1970; its key is good for as long as the call. */
export type EmitDatedRule = (rule: ListRule, day: number) => void;

const MARK = new TextEncoder().encode("#day ");
const [NUMBER_SIGN, LINE_FEED, ZERO, NINE] = [0x23, 0x0a, 0x30, 0x39];
/** Days are kept in two bytes. */
const MAX_DAY = 65_535;

/**
 * Reads such a list. Lines with days are left out of its counts of lines only where a format takes `#` for a comment.
 * @param day Of lines before the first that says one.
 * @returns A reader whose pieces end at ends of lines.
 */
export function createDatedListReader(format: ListFormat, options: ListOptions & { readonly day: number }, emit: EmitDatedRule): ListReader {
  let { day } = options;
  const reader = createListReader(format, options, (rule) => emit(rule, day));
  return {
    push(bytes) {
      let from = 0;
      for (let at = bytes.indexOf(NUMBER_SIGN); at >= 0; at = bytes.indexOf(NUMBER_SIGN, at + 1)) {
        if ((at > 0 && bytes[at - 1] !== LINE_FEED) || !MARK.every((byte, index) => bytes[at + index] === byte)) continue;
        reader.push(bytes.subarray(from, at));
        const { value, end } = readNumber(bytes, at + MARK.length);
        day = Math.min(value, MAX_DAY);
        from = end;
        at = end - 1;
      }
      reader.push(bytes.subarray(from));
    },
    end: () => reader.end(),
  };
}

/** @returns The number, and where the next line begins. */
function readNumber(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } {
  let [value, at] = [0, start];
  for (; at < bytes.length && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE; at += 1) value = Math.min(value * 10 + (bytes[at] as number) - ZERO, MAX_DAY);
  const end = bytes.indexOf(LINE_FEED, at);
  return { value, end: end < 0 ? bytes.length : end + 1 };
}
