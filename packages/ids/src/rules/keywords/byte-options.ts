/** Words that `byte_test`, `byte_jump`, `byte_extract` and `byte_math` share. */

import type { Amount, NumberForm, Value } from "../buffer-match.ts";
import { findVariable, needApplications, type RuleDraft } from "../draft.ts";
import { lookUp } from "../text/look-up.ts";
import { parseInteger, parseNumber, parseWide } from "../text/numbers.ts";

/** What may stand behind the places, in any order. */
export interface ByteOptions {
  isRelative: boolean;
  byteOrder: NumberForm["byteOrder"] | null;
  isText: boolean;
  digits: 8 | 10 | 16 | null;
  bitmask: bigint | null;
  multiplier: number;
  align: 0 | 2 | 4;
  from: "number" | "beginning" | "end";
  postOffset: Amount;
}

const BASES: Readonly<Record<string, 8 | 10 | 16>> = { oct: 8, dec: 10, hex: 16 };

/** Words that stand alone → what they set. */
const FLAGS: Readonly<Record<string, Partial<ByteOptions>>> = {
  relative: { isRelative: true }, big: { byteOrder: "big" }, little: { byteOrder: "little" }, dce: { byteOrder: "dce" }, string: { isText: true },
  align: { align: 4 }, from_beginning: { from: "beginning" }, from_end: { from: "end" },
};

/** @returns The options of these words, or the reason. */
export function readByteOptions(draft: RuleDraft, words: readonly string[]): ByteOptions | string {
  const options: ByteOptions = { isRelative: false, byteOrder: null, isText: false, digits: null, bitmask: null, multiplier: 1, align: 0, from: "number", postOffset: 0 };
  for (const word of words) {
    const [name = "", value = "", extra] = word.split(/\s+/);
    if (extra !== undefined) return `cannot read ${word}`;
    if (value !== "") {
      const reason = readPair(draft, options, name, value);
      if (reason !== null) return reason;
    } else if (Object.hasOwn(FLAGS, name)) Object.assign(options, FLAGS[name]);
    else if (Object.hasOwn(BASES, name)) Object.assign(options, { digits: BASES[name], isText: true });
    else return `cannot read ${word || "an empty place"}`;
  }
  return (options.byteOrder === "dce" ? needApplications(draft, ["dcerpc", "smb"]) : null) ?? options;
}

function readPair(draft: RuleDraft, options: ByteOptions, name: string, value: string): string | null {
  switch (name) {
    case "bitmask": {
      options.bitmask = parseWide(/^0x/i.test(value) ? value : `0x${value}`);
      return options.bitmask === null ? `${value} is no bitmask` : null;
    }
    case "multiplier": {
      options.multiplier = parseNumber(value, 65_535) ?? 0;
      return options.multiplier === 0 ? `${value} is no multiplier` : null;
    }
    case "align": {
      if (value !== "2" && value !== "4") return "align is 2 or 4";
      options.align = value === "2" ? 2 : 4;
      return null;
    }
    case "post_offset": {
      const amount = readAmount(draft, value, true);
      options.postOffset = amount ?? 0;
      return amount === null ? `${value} is no offset` : null;
    }
    case "endian": {
      if (value !== "big" && value !== "little" && value !== "dce") return `${value} is no byte order`;
      options.byteOrder = value;
      return null;
    }
    case "string": {
      const digits = lookUp(BASES, value);
      options.digits = digits ?? null;
      options.isText = true;
      return digits ? null : `${value} is no base`;
    }
    default: return `cannot read ${name}`;
  }
}

/** @returns The number's form, or the reason: as many bytes as a number may have, no order for digits. */
export function readForm(options: ByteOptions, count: Amount, maxBytes: number): NumberForm | string {
  const max = options.isText ? 23 : maxBytes;
  if (typeof count === "number" && count > max) return `a number of ${count} bytes is too long`;
  return { byteOrder: options.byteOrder ?? "big", digits: options.isText ? options.digits ?? "any" : null };
}

/** @returns A number, or a variable that was read before. */
export function readAmount(draft: RuleDraft, text: string, mayBeNegative: boolean): Amount | null {
  const number = mayBeNegative ? parseInteger(text, 0xffff_ffff) : parseNumber(text, 0xffff_ffff);
  return number ?? findVariable(draft, text);
}

/** @returns A value to compare with, or a variable that was read before. */
export function readValue(draft: RuleDraft, text: string): Value | null {
  return parseWide(text) ?? findVariable(draft, text);
}
