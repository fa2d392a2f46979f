/** Lines of files of rules and of configuration. */

/** Emerging Threats' longest rule has 4 KiB; what is longer is refused whole. */
export const MAX_RULE_BYTES = 65_536;

const LINE_FEED = 10;
const BACKSLASH = 92;
const CARRIAGE_RETURN = 13;

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
  let number = 1;
  for (let at = 0; at < bytes.length;) {
    const first = number;
    const pieces: string[] = [];
    let length = 0;
    for (let goesOn = true; goesOn && at < bytes.length;) {
      const feed = bytes.indexOf(LINE_FEED, at);
      const next = feed < 0 ? bytes.length : feed + 1;
      let end = feed < 0 ? bytes.length : feed;
      if (end > at && bytes[end - 1] === CARRIAGE_RETURN) end -= 1;
      goesOn = end > at && bytes[end - 1] === BACKSLASH;
      if (goesOn) end -= 1;
      length += end - at;
      if (length <= MAX_RULE_BYTES) pieces.push(latin1(bytes, at, end));
      at = next;
      number += 1;
    }
    const text = pieces.join("").trim();
    const isComment = text.startsWith("#") || (text === "" && length <= MAX_RULE_BYTES);
    if (!isComment) yield { number: first, text: length <= MAX_RULE_BYTES ? text : null };
  }
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1");
}

/** @returns Text for people, of characters that stand for bytes: UTF-8 where it is valid, else as it is. */
export function readableText(text: string): string {
  if (!/[\u0080-\u00ff]/.test(text)) return text;
  const decoded = Buffer.from(text, "latin1").toString("utf8");
  return decoded.includes("\ufffd") ? text : decoded;
}
