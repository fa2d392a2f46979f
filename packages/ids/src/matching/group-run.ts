/** What all matches of one run share. */

import type { Budget } from "@lanthorn/linear-regex";
import type { Amount, BufferMatch, Dataset, Value } from "../rules/buffer-match.ts";

/** Numbers that a rule's `byte_extract` and `byte_math` read, by their places in `Rule.variables`. Kept from one buffer to the next. */
export type VariableValues = BigUint64Array;

/** One buffer that is inspected for one rule. */
export interface GroupRun {
  readonly buffer: Uint8Array;
  readonly variables: VariableValues;
  /** What the header of DCE/RPC says of its numbers. */
  readonly isLittleEndian: boolean;
  /** Steps that are left for the rule, some 10 ns each. At 0 or below it gave up, and nothing is known. */
  readonly budget: Budget;
  /** What the rule asks of the bytes that `base64-decode` decodes; `null` for nothing. */
  readonly decoded: readonly BufferMatch[] | null;
  /** Asks a set, or changes it. */
  dataset(dataset: Dataset, bytes: Uint8Array): boolean;
  /** Where each match begins and ends, by its index in the group; of the last way that was tried. */
  readonly starts: number[];
  readonly ends: number[];
}

/** @returns The number, where it is read as one without a sign of 32 bits. */
export function unsignedOf(amount: Amount | null, run: GroupRun): number {
  if (amount === null) return 0;
  return typeof amount === "number" ? amount : Number(BigInt.asUintN(32, valueOf(amount, run)));
}

/** @returns The number, where it is read as one with a sign of 32 bits. */
export function signedOf(amount: Amount | null, run: GroupRun): number {
  if (amount === null) return 0;
  return typeof amount === "number" ? amount : Number(BigInt.asIntN(32, valueOf(amount, run)));
}

/** @returns The number, or the variable's. */
export function valueOf(value: Value, run: GroupRun): bigint {
  return typeof value === "bigint" ? value : run.variables[value.variable] ?? 0n;
}
