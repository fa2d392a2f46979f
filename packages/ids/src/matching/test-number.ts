/** Comparisons of numbers. */

import type { NumberTest } from "../rules/condition.ts";

/** @returns Whether a number is what a rule asks for. */
export function testNumber(test: NumberTest, value: number): boolean {
  switch (test.operator) {
    case "between":
      return value > test.low && value < test.high;
    case "outside":
      return value <= test.low || value >= test.high;
    case "mask":
      return under(value, test.mask) === test.value;
    case "not-mask":
      return under(value, test.mask) !== test.value;
    case "=":
      return value === test.value;
    case "!=":
      return value !== test.value;
    case "<":
    case "<=":
    case ">":
    case ">=":
    default:
      return compare(test.operator, value, test.value);
  }
}

/** Of numbers above 32 bits too, which the operators of JavaScript cut. */
function under(value: number, mask: number): number {
  return Number(BigInt(Math.trunc(value)) & BigInt(mask));
}

/** @returns Whether `value operator other` holds. */
export function compare<T extends number | bigint>(operator: "=" | "!=" | "<" | "<=" | ">" | ">=", value: T, other: T): boolean {
  switch (operator) {
    case "=":
      return value === other;
    case "!=":
      return value !== other;
    case "<":
      return value < other;
    case "<=":
      return value <= other;
    case ">":
      return value > other;
    case ">=":
    default:
      return value >= other;
  }
}
