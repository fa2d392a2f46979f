import { type CharacterSet, has } from "./character-set.ts";
import { type Assertion, childrenOf, type RegexNode, type ParsedTree } from "./syntax-tree.ts";

/** One step of a program; `next` and the like are indices of steps. */
export type Step =
  | { readonly op: "set"; readonly ascii: Uint8Array; readonly set: CharacterSet; next: number }
  | { readonly op: "split"; first: number; second: number }
  | { readonly op: "save"; readonly slot: number; next: number }
  | { readonly op: "assertion"; readonly assertion: Assertion; next: number }
  | { readonly op: "look"; readonly program: Program; readonly ahead: boolean; readonly negative: boolean; next: number }
  | { readonly op: "atomic"; readonly program: Program; next: number }
  | { readonly op: "match" };

/** A compiled pattern; `start` is the index of its first step. It is read only and may be run many times. */
export interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
}

/** Counted repetitions are written out; this is about the largest that a fingerprint needs, `{1,512}` of a few. */
export const MAX_STEPS = 20_000;

/** @param regex Of at most `MAX_STEPS` by `programSize`. */
export function compileLinear(regex: ParsedTree): Program {
  return compile(regex.root);
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

type Ascii = Uint8Array;
const asciiOf = new WeakMap<CharacterSet, Ascii>();

function compile(root: RegexNode): Program {
  const steps: Step[] = [{ op: "match" }];
  const start = emit(root, 0, steps);
  return { steps, start };
}

/** Programs are written from their end to their start, so that each step knows what comes next. @returns The first step's index. */
function emit(node: RegexNode, next: number, steps: Step[]): number {
  switch (node.kind) {
    case "set":
      return push(steps, { op: "set", set: node.set, ascii: tableOf(node.set), next });
    case "sequence":
      return node.nodes.reduceRight((after, one) => emit(one, after, steps), next);
    case "choice":
      return node.nodes.map((one) => emit(one, next, steps)).reduceRight((second, first) => push(steps, { op: "split", first, second }));
    case "capture": {
      const inside = emit(node.node, push(steps, { op: "save", slot: node.number * 2 + 1, next }), steps);
      return push(steps, { op: "save", slot: node.number * 2, next: inside });
    }
    case "atomic":
      return push(steps, { op: "atomic", program: compile(node.node), next });
    case "look":
      return push(steps, { op: "look", program: compile(node.node), ahead: node.ahead, negative: node.negative, next });
    case "assertion":
      return push(steps, { op: "assertion", assertion: node.assertion, next });
    case "repeat":
    default:
      return emitRepeat(node, next, steps);
  }
}

function emitRepeat(node: Extract<RegexNode, { readonly kind: "repeat" }>, next: number, steps: Step[]): number {
  const optional = (inside: number) =>
    push(steps, { op: "split", ...(node.lazy ? { first: next, second: inside } : { first: inside, second: next }) });
  let after = next;
  if (node.max === Infinity) {
    const loop = push(steps, { op: "split", first: next, second: next });
    const inside = emit(node.node, loop, steps);
    Object.assign(steps[loop] ?? {}, node.lazy ? { second: inside } : { first: inside });
    after = loop;
  } else {
    for (let turn = node.min; turn < node.max; turn += 1) after = optional(emit(node.node, after, steps));
  }
  for (let turn = 0; turn < node.min; turn += 1) after = emit(node.node, after, steps);
  return after;
}

function push(steps: Step[], step: Step): number {
  return steps.push(step) - 1;
}

function tableOf(set: CharacterSet): Ascii {
  const known = asciiOf.get(set);
  if (known) return known;
  const table = Uint8Array.from({ length: 128 }, (_, unit) => (has(set, unit) ? 1 : 0));
  asciiOf.set(set, table);
  return table;
}
