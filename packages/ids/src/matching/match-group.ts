/**
 * One rule's matches against one buffer, with the backtracking of Suricata: where a match that counts from a content fails, the content is
 * searched again behind its beginning. A content that counts from nothing and is not there ends all.
 */
import { findBytes } from "../patterns/find-bytes.ts";
import { compiledExpressions } from "../expressions/compiled-expressions.ts";
import type { Base64Decode, BufferMatch, Content, IsDataAt, Pcre } from "../rules/buffer-match.ts";
import { decodeBase64 } from "./base64.ts";
import { extractBytes, hasData, jumpBytes, reckonBytes, testBytes } from "./byte-steps.ts";
import type { GroupRun } from "./group-run.ts";
import { isCountedFrom, isRelative } from "./relative.ts";
import { searchWindow } from "./search-window.ts";
import { compare, testNumber } from "./test-number.ts";
import { shannonEntropy } from "./shannon-entropy.ts";

/** What a match costs beside the bytes that it looks at. */
const STEPS_A_MATCH = 8;
/** Bytes that are searched in one step. */
const BYTES_A_STEP = 8;

/** `never`: no other place of the matches before can help. */
type Outcome = "matched" | "failed" | "never";

/**
 * @param matches A few hundred at most, as the parser has it: each goes one call deeper.
 * @returns Whether all match. False too where the run's budget is spent, which its `left` says by 0 or less: what Suricata gives up is no
 * match either, of negated matches too.
 */
export function matchGroup(matches: readonly BufferMatch[], run: GroupRun): boolean {
  return matchFrom({ matches, run }, 0, 0) === "matched";
}

interface Matching {
  readonly matches: readonly BufferMatch[];
  readonly run: GroupRun;
}

/** @param place From which relative matches count: the end of the match before. */
function matchFrom(matching: Matching, index: number, place: number): Outcome {
  const { matches, run } = matching;
  const step = matches[index];
  if (step === undefined) return "matched";
  run.budget.left -= STEPS_A_MATCH;
  if (run.budget.left <= 0) return "never";
  if (step.kind === "content") return matchContent(matching, step, index, place);
  if (step.kind === "pcre") return matchExpression(matching, step, index, place);
  if (step.kind === "base64-decode") return matchDecoded(matching, step, place);
  const next = stepOver(step, place, run);
  return typeof next === "number" ? matchFrom(matching, index + 1, next) : next;
}

function matchContent(matching: Matching, step: Content, index: number, place: number): Outcome {
  const { run } = matching;
  const window = searchWindow(step, place, run);
  if (step.isNegated) return isAbsent(step, window, run) ? matchFrom(matching, index + 1, place) : negatedFailure(matching, step, index);
  if (window === null) return "failed";
  for (let { from } = window; ;) {
    const at = search(step, from, window.to, run);
    if (run.budget.left <= 0) return "never";
    if (at === -1) return isRelative(step) ? "failed" : "never";
    const end = at + step.bytes.length;
    if (!step.endsWith || end === run.buffer.length) {
      run.starts[index] = at;
      run.ends[index] = end;
      const outcome = matchFrom(matching, index + 1, end);
      if (outcome !== "failed" || !isCountedFrom(matching.matches, index)) return outcome;
    }
    from = at + 1;
  }
}

function search(step: Content, from: number, to: number, run: GroupRun): number {
  if (step.endsWith && to < run.buffer.length) return -1;
  const at = findBytes(run.buffer, step, from, to);
  run.budget.left -= 1 + Math.floor((at === -1 ? Math.max(0, to - from) : at - from) / BYTES_A_STEP);
  return at;
}

function isAbsent(step: Content, window: ReturnType<typeof searchWindow>, run: GroupRun): boolean {
  if (window === null) return true;
  const at = search(step, window.from, window.to, run);
  return at === -1 || (step.endsWith && at + step.bytes.length !== window.to - window.from);
}

/** What depends on nothing will be there at every other place too. */
function negatedFailure({ matches }: Matching, step: Content, index: number): Outcome {
  return isRelative(step) || step.offset !== null || step.depth !== null || isCountedFrom(matches, index) ? "failed" : "never";
}

function matchExpression(matching: Matching, step: Pcre, index: number, place: number): Outcome {
  const { run } = matching;
  const expression = compiledExpressions.of(step);
  if (expression === null) return "never";
  const base = step.isRelative ? place : 0;
  const subject = base === 0 ? run.buffer : run.buffer.subarray(base);
  for (let from = 0; ;) {
    run.budget.left -= 1 + Math.floor(subject.length / BYTES_A_STEP);
    const match = expression.find(subject, from, run.budget);
    if (run.budget.left <= 0) return "never";
    if (step.isNegated) return match === null ? matchFrom(matching, index + 1, place) : "failed";
    if (match === null) return "failed";
    run.starts[index] = base + match.index;
    run.ends[index] = base + match.end;
    const outcome = matchFrom(matching, index + 1, base + match.end);
    if (outcome !== "failed" || !isCountedFrom(matching.matches, index)) return outcome;
    from = match.index + 1;
    if (from > subject.length) return "failed";
  }
}

/** What is decoded ends the group: matches behind `base64_decode` are about it. */
function matchDecoded({ run }: Matching, step: Base64Decode, place: number): Outcome {
  const decoded = decodeBase64(run.buffer, (step.isRelative ? place : 0) + step.offset, step.bytes);
  run.budget.left -= decoded.length;
  if (decoded.length === 0 || run.decoded === null) return "failed";
  return matchGroup(run.decoded, {
    buffer: decoded, variables: run.variables, isLittleEndian: run.isLittleEndian, budget: run.budget, decoded: run.decoded,
    dataset: (dataset, bytes) => run.dataset(dataset, bytes), starts: [], ends: [],
  }) ? "matched" : "failed";
}

type PlainStep = Exclude<BufferMatch, Content | Pcre | Base64Decode>;

/** @returns The place from which matches behind it count, or how it failed. */
function stepOver(step: PlainStep, place: number, run: GroupRun): number | Outcome {
  switch (step.kind) {
    case "byte-test":
      return testBytes(step, place, run) ? place : "failed";
    case "byte-jump":
      return placeOr(jumpBytes(step, place, run));
    case "byte-extract":
      return placeOr(extractBytes(step, place, run));
    case "byte-math":
      return placeOr(reckonBytes(step, place, run));
    case "is-data-at":
      return hasData(step, place, run) ? place : dataFailure(step);
    case "size":
      return testNumber(step.test, run.buffer.length) ? place : "never";
    case "absent":
      return step.orElse ? place : "failed";
    case "dataset":
      return run.dataset(step, run.buffer) ? place : "never";
    case "entropy":
    default: {
      const bytes = run.buffer.subarray(step.offset, step.bytes === 0 ? run.buffer.length : step.offset + step.bytes);
      run.budget.left -= bytes.length;
      return compare(step.operator, shannonEntropy(bytes), step.value) ? place : "failed";
    }
  }
}

function placeOr(place: number): number | Outcome {
  return place === -1 ? "failed" : place;
}

/** Further on there is less data, and what is absolute stays as it is. */
function dataFailure({ at, isRelative, isNegated }: IsDataAt): Outcome {
  return typeof at === "number" && !(isRelative && isNegated) ? "never" : "failed";
}
