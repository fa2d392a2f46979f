// Backtracking that remembers where it has failed: each step is tried at each place of the text once, so that the work is at most
// program length × text length, whatever pattern and text are. Where there are back-references, what failed once may match another time:
// there nothing is remembered, and the budget alone bounds the work. It prefers the same match as Ruby's and JavaScript's own.
import { has } from "./character-set.ts";
import type { Program, Step } from "./linear-program.ts";
import type { Assertion } from "./syntax-tree.ts";

/** What it costs to begin a program or a look around, in steps, and for how many of its words of memory it costs one more. */
const STEPS_TO_BEGIN = 32;
const WORDS_TO_A_STEP = 16;

/** Where each group begins and ends, by twice its number; -1 where it took no part. */
export type Slots = Int32Array;

/** Steps that may still be taken, which is about 10 ns each. Below 0 when they were too few. */
export interface Budget {
  left: number;
}

/**
 * @param from Where a match may begin.
 * @param budget All work is taken from it, what looks around takes too.
 * @returns The slots of the leftmost match, or null where there is none, or none was found within the budget.
 */
export function matchLinear(program: Program, text: string, budget: Budget, from: number): Slots | null {
  const slots = new Int32Array(program.slots).fill(-1);
  payToBegin(program, text, budget);
  if (budget.left <= 0) return null;
  const failed = failuresFor(program, text);
  for (let start = from; start <= text.length && budget.left > 0; start += 1) {
    const end = runAt({ program, text, slots, budget, failed }, start, null);
    if (end === -1) continue;
    slots[0] = start;
    slots[1] = end;
    return slots;
  }
  return null;
}

interface Run {
  readonly program: Program;
  readonly text: string;
  readonly slots: Slots;
  readonly budget: Budget;
  /** One bit for each step and place that was tried before. */
  readonly failed: Uint32Array;
}

function payToBegin(program: Program, text: string, budget: Budget): void {
  budget.left -= STEPS_TO_BEGIN + (program.forgets ? 0 : Math.ceil((program.steps.length * (text.length + 1)) / 32 / WORDS_TO_A_STEP));
}

function failuresFor(program: Program, text: string): Uint32Array {
  return new Uint32Array(program.forgets ? 0 : Math.ceil((program.steps.length * (text.length + 1)) / 32));
}

/** @param mustEndAt For looking behind. @returns Where the match ends, or -1. */
function runAt(run: Run, start: number, mustEndAt: number | null): number {
  const { program, text, slots, budget, failed } = run;
  const width = text.length + 1;
  /** Triples: a step to try at a place; or, with a negative step, the slot to set back to a value. */
  const stack: number[] = [program.start, start];
  while (stack.length > 0) {
    let place = stack.pop() ?? 0;
    let index = stack.pop() ?? 0;
    if (index < 0) {
      slots[-index - 1] = place;
      continue;
    }
    for (;;) {
      const bit = index * width + place;
      const mask = 1 << (bit & 31);
      budget.left -= 1;
      if (budget.left < 0 || ((failed[bit >>> 5] ?? 0) & mask) !== 0) break;
      if (!program.forgets) failed[bit >>> 5] = (failed[bit >>> 5] ?? 0) | mask;
      const step: Step | undefined = program.steps[index];
      if (!step) break;
      if (step.op === "set") {
        const unit = place < text.length ? text.charCodeAt(place) : -1;
        if (unit === -1 || !(unit < 128 ? ((step.ascii[unit >>> 5] ?? 0) >>> (unit & 31)) & 1 : has(step.set, unit))) break;
        place += 1;
        index = step.next;
      } else if (step.op === "split") {
        stack.push(step.second, place);
        index = step.first;
      } else if (step.op === "save") {
        stack.push(-step.slot - 1, slots[step.slot] ?? -1);
        slots[step.slot] = place;
        index = step.next;
      } else if (step.op === "loop") {
        if (slots[step.slot] === place) {
          index = step.next;
          continue;
        }
        const [first, second] = step.lazy ? [step.next, step.inside] : [step.inside, step.next];
        stack.push(second, place, -step.slot - 1, slots[step.slot] ?? -1);
        slots[step.slot] = place;
        index = first;
      } else if (step.op === "match") {
        if (mustEndAt === null || place === mustEndAt) return place;
        break;
      } else {
        if (program.forgets && step.op !== "assertion") slots.forEach((slot, at) => stack.push(-at - 1, slot));
        const end = tryStep(step, run, place);
        if (end === -1) break;
        place = end;
        index = step.next;
      }
    }
  }
  return -1;
}

/** @returns Where to go on, or -1. */
function tryStep(step: Extract<Step, { readonly op: "assertion" | "look" | "atomic" | "back-reference" }>, run: Run, place: number): number {
  const { text } = run;
  if (step.op === "assertion") return holds(step.assertion, text, place) ? place : -1;
  if (step.op === "back-reference") return behindCopy(step, run, place);
  const inner = beginInner(step.program, run);
  if (step.op === "atomic") return inner(place, null);
  let found = step.ahead && inner(place, null) !== -1;
  for (let start = place; !step.ahead && !found && start >= 0 && run.budget.left > 0; start -= 1) found = inner(start, place) !== -1;
  // Where the work was too much, nothing is known, and nothing matches.
  return found === step.negative || run.budget.left <= 0 ? -1 : place;
}

/** @returns The place behind what the group took, where it stands at this place again, or -1. */
function behindCopy(step: Extract<Step, { readonly op: "back-reference" }>, { text, slots, budget }: Run, place: number): number {
  const [start, end] = [slots[step.number * 2] ?? -1, slots[step.number * 2 + 1] ?? -1];
  if (start === -1 || end < start) return -1;
  budget.left -= (end - start) >>> 4;
  const [taken, here] = [text.slice(start, end), text.slice(place, place + end - start)];
  const isCopy = step.ignoreCase ? lowerAscii(taken) === lowerAscii(here) : taken === here;
  return isCopy ? place + end - start : -1;
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * @returns What runs a program inside at a place, on the same budget: the memory that it needs costs steps, too. What failed for one place
 * to end at has failed for all that are tried from further back.
 */
function beginInner(program: Program, run: Run): (start: number, mustEndAt: number | null) => number {
  payToBegin(program, run.text, run.budget);
  if (run.budget.left <= 0) return () => -1;
  const inner = { ...run, program, failed: failuresFor(program, run.text) };
  return (start, mustEndAt) => runAt(inner, start, mustEndAt);
}

function holds(assertion: Assertion, text: string, place: number): boolean {
  switch (assertion) {
    case "start":
      return place === 0;
    case "end":
      return place === text.length;
    case "line-start":
      return place === 0 || (text[place - 1] === "\n" && place < text.length);
    case "line-end":
      return place === text.length || text[place] === "\n";
    case "end-or-newline":
      return place === text.length || (place === text.length - 1 && text[place] === "\n");
    case "word-boundary":
    case "no-word-boundary":
    default:
      return (isWord(text[place - 1]) !== isWord(text[place])) === (assertion === "word-boundary");
  }
}

function isWord(letter: string | undefined): boolean {
  return letter !== undefined && /\w/.test(letter);
}
