/** Comparisons of numbers. */

import type { NumberTest } from "../rules/condition.ts";

/** @returns Whether a number is what a rule asks for. */
export function testNumber(test: NumberTest, value: number): boolean {
  switch (test.operator) {
    case "between":
      return value > test.low && value < test.high;
    case "outside":
      return value < test.low || value > test.high;
    case "any-of":
      return test.values.includes(value);
    case "none-of":
      return !test.values.includes(value);
    case "&":
      return (value & test.value) !== 0;
    case "!&":
      return (value & test.value) === 0;
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
