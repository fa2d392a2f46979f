import type { CharacterSet } from "./character-set.ts";
import { type Assertion, childrenOf, hasBackReference, type RegexNode, type ParsedTree } from "./syntax-tree.ts";

/** One step of a program; `next` and the like are indices of steps. */
export type Step =
  /** `ascii` has a bit for each of the first 128 units. */
  | { readonly op: "set"; readonly ascii: Uint32Array; readonly set: CharacterSet; next: number }
  | { readonly op: "split"; first: number; second: number }
  /** A repetition without an end: `inside` is tried where the slot does not say that the last turn took nothing. */
  | { readonly op: "loop"; readonly slot: number; readonly lazy: boolean; inside: number; readonly next: number }
  | { readonly op: "back-reference"; readonly number: number; readonly ignoreCase: boolean; next: number }
  | { readonly op: "save"; readonly slot: number; next: number }
  | { readonly op: "assertion"; readonly assertion: Assertion; next: number }
  | { readonly op: "look"; readonly program: Program; readonly ahead: boolean; readonly negative: boolean; next: number }
  | { readonly op: "atomic"; readonly program: Program; next: number }
  | { readonly op: "match" };

/** A compiled pattern; `start` is the index of its first step. It is read only and may be run many times. */
export interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
  /** What was tried at a place may end otherwise the next time: it has back-references. */
  readonly forgets: boolean;
  /** How many slots it needs: two for each group, the whole match being one, and one for each loop where `forgets` is set. */
  readonly slots: number;
}

/** Counted repetitions are written out; this is about the largest that a fingerprint needs, `{1,512}` of a few. */
export const MAX_STEPS = 20_000;

/** @param regex Of at most `MAX_STEPS` by `programSize`. */
export function compileLinear(regex: ParsedTree): Program {
  return compile(regex.root, { forgets: hasBackReference(regex.root), slots: (regex.captures + 1) * 2 });
}

/** @returns How many steps the program of a tree has, with those inside of what looks around; found out without writing it. */
export function programSize(root: RegexNode): number {
  return 1 + sizeOf(root);
}

function sizeOf(node: RegexNode): number {
  const inside = () => childrenOf(node).reduce((sum, child) => sum + sizeOf(child), 0);
  switch (node.kind) {
    case "set":
    case "assertion":
    case "back-reference":
      return 1;
    case "sequence":
      return inside();
    case "choice":
      return inside() + node.nodes.length - 1;
    case "capture":
    case "atomic":
    case "look":
      return inside() + 2;
    case "repeat":
    default:
      return node.max === Infinity ? inside() * (node.min + 1) + 1 : inside() * node.max + node.max - node.min;
  }
}

const asciiOf = new WeakMap<CharacterSet, Uint32Array>();
const ASCII_UNITS = 128;

/** What all programs of a pattern share. */
interface Numbering {
  readonly forgets: boolean;
  slots: number;
}

function compile(root: RegexNode, numbering: Numbering): Program {
  const steps: Step[] = [{ op: "match" }];
  const start = emit(root, 0, { steps, numbering });
  return { steps, start, forgets: numbering.forgets, slots: numbering.slots };
}

interface Writing {
  readonly steps: Step[];
  readonly numbering: Numbering;
}

/** Programs are written from their end to their start, so that each step knows what comes next. @returns The first step's index. */
function emit(node: RegexNode, next: number, writing: Writing): number {
  const { steps, numbering } = writing;
  switch (node.kind) {
    case "set":
      return push(steps, { op: "set", set: node.set, ascii: tableOf(node.set), next });
    case "sequence":
      return node.nodes.reduceRight((after, one) => emit(one, after, writing), next);
    case "choice":
      return node.nodes.map((one) => emit(one, next, writing)).reduceRight((second, first) => push(steps, { op: "split", first, second }));
    case "capture": {
      const inside = emit(node.node, push(steps, { op: "save", slot: node.number * 2 + 1, next }), writing);
      return push(steps, { op: "save", slot: node.number * 2, next: inside });
    }
    case "atomic":
      return push(steps, { op: "atomic", program: compile(node.node, numbering), next });
    case "back-reference":
      return push(steps, { op: "back-reference", number: node.number, ignoreCase: node.ignoreCase, next });
    case "look":
      return push(steps, { op: "look", program: compile(node.node, numbering), ahead: node.ahead, negative: node.negative, next });
    case "assertion":
      return push(steps, { op: "assertion", assertion: node.assertion, next });
    case "repeat":
    default:
      return emitRepeat(node, next, writing);
  }
}

function emitRepeat(node: Extract<RegexNode, { readonly kind: "repeat" }>, next: number, writing: Writing): number {
  const { steps, numbering } = writing;
  const optional = (inside: number) =>
    push(steps, { op: "split", ...(node.lazy ? { first: next, second: inside } : { first: inside, second: next }) });
  let after = next;
  if (node.max === Infinity && numbering.forgets) {
    numbering.slots += 1;
    const loop = push(steps, { op: "loop", slot: numbering.slots - 1, lazy: node.lazy, inside: next, next });
    Object.assign(steps[loop] ?? {}, { inside: emit(node.node, loop, writing) });
    after = loop;
  } else if (node.max === Infinity) {
    const loop = push(steps, { op: "split", first: next, second: next });
    const inside = emit(node.node, loop, writing);
    Object.assign(steps[loop] ?? {}, node.lazy ? { second: inside } : { first: inside });
    after = loop;
  } else {
    for (let turn = node.min; turn < node.max; turn += 1) after = optional(emit(node.node, after, writing));
  }
  for (let turn = 0; turn < node.min; turn += 1) after = emit(node.node, after, writing);
  return after;
}

function push(steps: Step[], step: Step): number {
  return steps.push(step) - 1;
}

function tableOf(set: CharacterSet): Uint32Array {
  const known = asciiOf.get(set);
  if (known) return known;
  const table = new Uint32Array(ASCII_UNITS / 32);
  for (let at = 0; at < set.length; at += 2) {
    const last = Math.min(set[at + 1] ?? 0, ASCII_UNITS - 1);
    for (let unit = set[at] ?? 0; unit <= last; unit += 1) table[unit >>> 5] = (table[unit >>> 5] ?? 0) | (1 << (unit & 31));
  }
  asciiOf.set(set, table);
  return table;
}
