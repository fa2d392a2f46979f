/** Lines of files of rules and of configuration. */

/** Emerging Threats' longest rule has 2.5 KiB, and Suricata itself takes 8; what is longer is refused whole. */
export const MAX_RULE_BYTES = 16_384;

/** Bytes that are gone through before others may have their turn; well below a millisecond. */
const BYTES_A_STEP = 65_536;

const LINE_FEED = 10;
const BACKSLASH = 92;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const COMMENT = 35;

/** A line with those that continue it. */
export interface LogicalLine {
  /** Where it begins, from 1. */
  readonly number: number;
  /** One character a byte, without white space at the ends; `null` where it has more than `MAX_RULE_BYTES`. */
  readonly text: string | null;
}

/**
 * Splits a file into lines; one that ends with a backslash goes on in the next. Empty lines and comments are left out.
 * @returns In the order of the file, one at a time, so that a large file is never in memory twice.
 */
export function* readLines(bytes: Uint8Array): Generator<LogicalLine> {
  for (const line of readLineSteps(bytes)) if (line !== null) yield line;
}

/** The same in small steps: `null` where there is nothing yet, in long comments and lines. */
export function* readLineSteps(bytes: Uint8Array): Generator<LogicalLine | null> {
  let number = 1;
  let rested = 0;
  for (let at = 0; at < bytes.length;) {
    const [first, begin] = [number, at];
    const pieces: string[] = [];
    let length = 0;
    for (let goesOn = true; goesOn && at < bytes.length;) {
      const { end, next, isOpen } = endOfLine(bytes, at);
      goesOn = isOpen;
      length += end - at;
      if (length > MAX_RULE_BYTES) pieces.length = 0;
      else if (end > at && !isComment(bytes, begin)) pieces.push(latin1(bytes, at, end));
      at = next;
      number += 1;
      if (at - rested >= BYTES_A_STEP) {
        rested = at;
        yield null;
      }
    }
    if (isComment(bytes, begin)) continue;
    const text = pieces.join("").trim();
    if (length > MAX_RULE_BYTES) yield { number: first, text: null };
    else if (text !== "" && !text.startsWith("#")) yield { number: first, text };
  }
}

/** @returns Where the line's text ends, where the next one begins, and whether it goes on there. */
function endOfLine(bytes: Uint8Array, at: number): { readonly end: number; readonly next: number; readonly isOpen: boolean } {
  const feed = bytes.indexOf(LINE_FEED, at);
  const next = feed < 0 ? bytes.length : feed + 1;
  let end = feed < 0 ? bytes.length : feed;
  if (end > at && bytes[end - 1] === CARRIAGE_RETURN) end -= 1;
  const isOpen = end > at && bytes[end - 1] === BACKSLASH;
  return { end: isOpen ? end - 1 : end, next, isOpen };
}

/** Whether a line that begins there is one, without a look at all of it. */
function isComment(bytes: Uint8Array, begin: number): boolean {
  let at = begin;
  while (at < begin + MAX_INDENT && bytes[at] === SPACE) at += 1;
  return bytes[at] === COMMENT;
}

/** What is indented further is found to be a comment later. */
const MAX_INDENT = 16;

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1");
}

/** @returns Text for people, of characters that stand for bytes: UTF-8 where it is valid, else as it is. */
export function readableText(text: string): string {
  if (!/[\u0080-\u00ff]/.test(text)) return text;
  const decoded = Buffer.from(text, "latin1").toString("utf8");
  return decoded.includes("\ufffd") ? text : decoded;
}
