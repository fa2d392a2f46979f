/**
 * Numbers in rules.
 * @see https://docs.suricata.io/en/latest/rules/integer-keywords.html
 */

import type { NumberTest } from "../condition.ts";
import { lookUp } from "./look-up.ts";

const UNITS: Readonly<Record<string, number>> = { "": 1, kb: 1024, kib: 1024, mb: 1_048_576, mib: 1_048_576, gb: 1_073_741_824, gib: 1_073_741_824 };

/** @returns A number of decimal or hexadecimal digits, with a unit of size or none; `null` for anything else, and above `max`. */
export function parseNumber(text: string, max = Number.MAX_SAFE_INTEGER): number | null {
  const found = /^(?:0x([0-9a-f]{1,16})|(\d{1,20}))\s*([kmg]i?b)?$/i.exec(text.trim());
  if (!found) return null;
  const value = (found[1] === undefined ? Number(found[2]) : Number.parseInt(found[1], 16)) * (UNITS[(found[3] ?? "").toLowerCase()] ?? 1);
  return Number.isSafeInteger(value) && value <= max ? value : null;
}

/** @returns As `parseNumber`, and negative ones. */
export function parseInteger(text: string, max = Number.MAX_SAFE_INTEGER): number | null {
  const trimmed = text.trim();
  if (!/^[+-]/.test(trimmed)) return parseNumber(trimmed, max);
  const value = parseNumber(trimmed.slice(1), max);
  return value === null || value === 0 || trimmed.startsWith("+") ? value : -value;
}

/** @returns A number of up to 64 bits, decimal, hexadecimal, or negative as its two's complement. */
export function parseWide(text: string): bigint | null {
  const trimmed = text.trim();
  if (!/^(?:0x[0-9a-f]{1,16}|-?\d{1,20})$/i.test(trimmed)) return null;
  const value = BigInt(trimmed);
  return value >> 64n > 0n || value < -(1n << 63n) ? null : BigInt.asUintN(64, value);
}

/**
 * @param spaced The test, with white space or without.
 * @param bits Size of the field: what no number of that size can be is refused.
 * @param words Names that the field's values have.
 * @returns What is asked of the number, or `null` where the text is no such thing.
 */
export function parseNumberTest(spaced: string, bits: number, words: Readonly<Record<string, number>> = {}): NumberTest | null {
  const text = spaced.replace(/\s+/g, "");
  const max = bits >= 53 ? Number.MAX_SAFE_INTEGER : 2 ** bits - 1;
  const number = (word: string) => lookUp(words, word.toLowerCase()) ?? parseNumber(word, max);
  const mask = /^&([^=!]+)(!?=)(.+)$/.exec(text);
  if (mask) return maskTest(number(mask[1] ?? ""), number(mask[3] ?? ""), mask[2] === "!=");
  const range = /^(!?)(\w+)(?:-|<>)(\w+)$/.exec(text);
  if (range && lookUp(words, text.toLowerCase()) === undefined) return rangeTest(number(range[2] ?? ""), number(range[3] ?? ""), range[1] === "!");
  const single = /^(!=|==|[<>]=|[=!<>])?([^<>=!]+)$/.exec(text);
  const value = number(single?.[2] ?? "");
  return value === null ? null : { operator: operatorOf(single?.[1] ?? "="), value };
}

function operatorOf(text: string): "=" | "!=" | "<" | "<=" | ">" | ">=" {
  switch (text) {
    case "!": case "!=": return "!=";
    case "<": case "<=": case ">": case ">=": return text;
    default: return "=";
  }
}

function maskTest(mask: number | null, value: number | null, isNegated: boolean): NumberTest | null {
  if (mask === null || value === null || (BigInt(value) & ~BigInt(mask)) !== 0n) return null;
  return { operator: isNegated ? "not-mask" : "mask", mask, value };
}

/** A range with no number between its ends is refused, as no packet could match. */
function rangeTest(low: number | null, high: number | null, isNegated: boolean): NumberTest | null {
  return low === null || high === null || high <= low + 1 ? null : { operator: isNegated ? "outside" : "between", low, high };
}
