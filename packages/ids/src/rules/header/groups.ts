/** The grammar that addresses and ports of a header share: groups in brackets, negations and variables. */

import { type Ranges, subtract, unite } from "./ranges.ts";

/** Groups may nest as deep as this, variables included. */
const MAX_DEPTH = 32;
/** Ranges of one set; above that a group is refused. */
const MAX_RANGES = 65_536;

/** What there is to choose from. */
export interface GroupSpace {
  readonly all: Ranges;
  /** Reads one address, network, port or range; `null` for anything else. */
  readonly readLeaf: (text: string) => Ranges | null;
  /** By name, without the dollar sign. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A set, or the reason why there is none. */
export type GroupResult = { readonly ok: true; readonly ranges: Ranges } | { readonly ok: false; readonly reason: string };

class GroupError extends Error {}

/**
 * @returns A function that resolves texts to sets. A variable is resolved once, whoever names it. A group of negations alone is all but those.
 */
export function createGroupReader(space: GroupSpace): (text: string) => GroupResult {
  const known = new Map<string, Ranges>();
  const variable = (name: string, depth: number): Ranges => {
    const before = known.get(name);
    if (before) return before;
    if (!Object.hasOwn(space.variables, name)) throw new GroupError(`no variable $${name}`);
    const ranges = createCursor(space.variables[name] ?? "", space, variable, depth).whole();
    known.set(name, ranges);
    return ranges;
  };
  return (text) => {
    try {
      const ranges = createCursor(text, space, variable, 0).whole();
      return ranges.length === 0 ? { ok: false, reason: `nothing is in ${shorten(text)}` } : { ok: true, ranges };
    } catch (error) {
      if (error instanceof GroupError) return { ok: false, reason: error.message };
      throw error;
    }
  };
}

function createCursor(text: string, space: GroupSpace, variable: (name: string, depth: number) => Ranges, startDepth: number) {
  let at = 0;
  const skipSpace = () => {
    while (/\s/.test(text[at] ?? "")) at += 1;
  };
  const item = (depth: number): { readonly isNegated: boolean; readonly ranges: Ranges } => {
    if (depth > MAX_DEPTH) throw new GroupError(`groups nest deeper than ${MAX_DEPTH}`);
    skipSpace();
    const isNegated = text[at] === "!";
    if (isNegated) at += 1;
    skipSpace();
    if (text[at] === "[") {
      at += 1;
      return { isNegated, ranges: list(depth + 1) };
    }
    const start = at;
    while (at < text.length && text[at] !== "," && text[at] !== "]") at += 1;
    const word = text.slice(start, at).trim();
    if (word.startsWith("$")) return { isNegated, ranges: variable(word.slice(1), depth + 1) };
    const ranges = word.toLowerCase() === "any" ? space.all : space.readLeaf(word);
    if (!ranges) throw new GroupError(`cannot read ${shorten(word) || "an empty place"}`);
    return { isNegated, ranges };
  };
  const list = (depth: number): Ranges => {
    const chosen: (readonly [bigint, bigint])[] = [];
    const left: (readonly [bigint, bigint])[] = [];
    let hasChosen = false;
    for (;;) {
      const next = item(depth);
      if (!next.isNegated) hasChosen = true;
      const into = next.isNegated ? left : chosen;
      for (const range of next.ranges) into.push(range);
      if (into.length > MAX_RANGES) throw new GroupError(`a group has more than ${MAX_RANGES} ranges`);
      skipSpace();
      const mark = text[at];
      at += 1;
      if (mark === "]") return subtract(hasChosen ? unite(chosen) : space.all, unite(left));
      if (mark !== ",") throw new GroupError("a group is not closed");
    }
  };
  const whole = (): Ranges => {
    const only = item(startDepth);
    skipSpace();
    if (at < text.length) throw new GroupError(`cannot read ${shorten(text)}`);
    return only.isNegated ? subtract(space.all, unite(only.ranges)) : unite(only.ranges);
  };
  return { whole };
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
