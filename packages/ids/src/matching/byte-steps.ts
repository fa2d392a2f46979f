/** `byte_test`, `byte_jump`, `byte_extract`, `byte_math` and `isdataat`, at one place of a buffer. */

import type { Amount, ByteExtract, ByteJump, ByteMath, ByteTest, IsDataAt, NumberForm } from "../rules/buffer-match.ts";
import { type GroupRun, signedOf, valueOf } from "./group-run.ts";
import { applyMask, MAX_DIGITS, type NumberRead, readNumber } from "./read-number.ts";
import { compare } from "./test-number.ts";

interface NumberAt {
  readonly count: Amount;
  readonly offset: Amount;
  readonly isRelative: boolean;
  readonly form: NumberForm;
}

/** Further than any buffer is long; Suricata's own bound. */
const MAX_DATA_AT = 100_000_000n;

/** @returns Whether the comparison holds; a number that is not there fails it, negated or not. */
export function testBytes(step: ByteTest, place: number, run: GroupRun): boolean {
  const read = readAt(step, place, run);
  if (read === null) return false;
  const value = applyMask(read.number.value, step.bitmask);
  const other = valueOf(step.value, run);
  const { operator } = step;
  const holds = operator === "&" ? (value & other) !== 0n : operator === "^" ? (value ^ other) !== 0n : compare(operator, value, other);
  return holds !== step.isNegated;
}

/** @returns Where it leads to, inside the buffer; or -1. What leads to before its beginning stays there. */
export function jumpBytes(step: ByteJump, place: number, run: GroupRun): number {
  const read = signedOf(step.count, run) === 0 && step.form.digits === null ? readNothing(step, place, run) : readAt(step, place, run);
  if (read === null) return -1;
  let jump = BigInt.asUintN(64, applyMask(read.number.value, step.bitmask) * BigInt(step.multiplier));
  if (step.isAligned) jump = roundUp(jump, 4n);
  const distance = BigInt.asIntN(64, jump + BigInt(signedOf(step.postOffset, run)));
  const begin = step.from === "beginning" ? 0 : step.from === "end" ? run.buffer.length : read.at + read.number.length;
  const target = BigInt(begin) + distance;
  if (target < 0n) return 0;
  return target >= BigInt(run.buffer.length) ? -1 : Number(target);
}

/** Keeps the number. @returns The place behind it, or -1. */
export function extractBytes(step: ByteExtract, place: number, run: GroupRun): number {
  const read = readAt(step, place, run);
  if (read === null) return -1;
  let value = BigInt.asUintN(64, applyMask(read.number.value, step.bitmask) * BigInt(step.multiplier));
  if (step.align !== 0) value = roundUp(value, BigInt(step.align));
  run.variables[step.result.variable] = BigInt.asUintN(64, value);
  return read.at + read.number.length;
}

/** Keeps what comes out, with 64 bits. @returns The place behind the number, or -1; a division by 0 fails. */
export function reckonBytes(step: ByteMath, place: number, run: GroupRun): number {
  const read = readAt(step, place, run);
  if (read === null) return -1;
  const result = reckon(step.operator, read.number.value, valueOf(step.value, run));
  if (result === null) return -1;
  run.variables[step.result.variable] = applyMask(BigInt.asUintN(64, result), step.bitmask);
  return read.at + read.number.length;
}

function reckon(operator: ByteMath["operator"], value: bigint, other: bigint): bigint | null {
  switch (operator) {
    case "+":
      return value + other;
    case "-":
      return value - other;
    case "*":
      return value * other;
    case "/":
      return other === 0n ? null : value / other;
    case "<<":
      return other > 63n ? 0n : value << other;
    case ">>":
    default:
      return other > 63n ? 0n : value >> other;
  }
}

/** Whether data is there or not, as asked. A relative one asks for so many bytes behind the place, an absolute one for a byte at it. */
export function hasData(step: IsDataAt, place: number, run: GroupRun): boolean {
  const at = typeof step.at === "number" ? BigInt(step.at) : valueOf(step.at, run);
  const isThere = at < MAX_DATA_AT && (step.isRelative ? place + Number(at) <= run.buffer.length : Number(at) < run.buffer.length);
  return isThere !== step.isNegated;
}

interface ReadAt {
  readonly at: number;
  readonly number: NumberRead;
}

function readAt(step: NumberAt, place: number, run: GroupRun): ReadAt | null {
  const at = startOf(step, place, run);
  if (at === null) return null;
  const count = signedOf(step.count, run);
  const isOpen = count === 0 && step.form.digits !== null;
  const number = readNumber(run.buffer, at, isOpen ? Math.min(run.buffer.length - at, MAX_DIGITS) : count, step.form, run.isLittleEndian);
  return number && { at, number };
}

/** No number is read, so that its place may be the end of the buffer. */
function readNothing(step: NumberAt, place: number, run: GroupRun): ReadAt | null {
  const at = (step.isRelative ? place : 0) + signedOf(step.offset, run);
  return at < 0 || at > run.buffer.length ? null : { at, number: { value: 0n, length: 0 } };
}

/** A relative number needs a byte at its place. */
function startOf(step: NumberAt, place: number, run: GroupRun): number | null {
  const at = (step.isRelative ? place : 0) + signedOf(step.offset, run);
  if (at < 0 || at > run.buffer.length) return null;
  return step.isRelative && at === run.buffer.length ? null : at;
}

function roundUp(value: bigint, to: bigint): bigint {
  return value % to === 0n ? value : value + to - (value % to);
}
