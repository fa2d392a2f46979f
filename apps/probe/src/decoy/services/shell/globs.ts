/** Patterns of a shell, for names in the folders that it shows. @see glob(7) */
import { fitsWildcards, type WildcardPart } from "../wildcards.ts";
import { isListed, namesAt, resolvePath, type ShellState } from "./answers.ts";

const WILDCARD = /[*?[]/;
/** Paths that one pattern stands for. */
const MAX_PATHS = 64;
/** NAME_MAX of Linux: no name fits a longer pattern. */
const MAX_PATTERN = 255;

/** @param path As it was given, absolute or not. @returns The paths that it stands for, in the order of their names; itself where there is none, or where it is no pattern. */
export function expandGlob(path: string, state: ShellState): readonly string[] {
  if (!WILDCARD.test(path)) return [path];
  let found: readonly string[] = [path.startsWith("/") ? "/" : ""];
  for (const part of path.split("/").filter((one) => one !== "").slice(0, MAX_PATHS)) {
    found = found.flatMap((before) => (WILDCARD.test(part) ? namesLike(part, before, state).map((name) => `${before}${name}/`) : [`${before}${part}/`])).slice(0, MAX_PATHS);
  }
  const existing = found.map((one) => one.replace(/\/$/, "")).filter((one) => namesAt(resolvePath(one, state), state) !== null || isListed(resolvePath(one, state), state));
  return existing.length === 0 ? [path] : existing;
}

function namesLike(pattern: string, folder: string, state: ShellState): readonly string[] {
  if (pattern.length > MAX_PATTERN) return [];
  const parts = readPattern(pattern);
  // What begins with a dot is not meant by a wildcard.
  return (namesAt(resolvePath(folder, state), state) ?? []).filter((name) => (pattern.startsWith(".") || !name.startsWith(".")) && fitsWildcards(parts, name)).toSorted();
}

/** A bracket that does not end stands for itself. */
function readPattern(pattern: string): readonly WildcardPart[] {
  const parts: WildcardPart[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const letter = pattern[at];
    const end = letter === "[" ? pattern.indexOf("]", at + (/[!^]/.test(pattern[at + 1] ?? "") ? 3 : 2)) : -1;
    if (letter === "*") parts.push("run");
    else if (letter === "?") parts.push(() => true);
    else if (end < 0) parts.push((given) => given === letter);
    else {
      parts.push(readSet(pattern.slice(at + 1, end)));
      at = end;
    }
  }
  return parts;
}

function readSet(text: string): (character: string) => boolean {
  const isNot = /^[!^]/.test(text);
  const members = isNot ? text.slice(1) : text;
  const ranges: (readonly [from: string, to: string])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const isRange = members[at + 1] === "-" && at + 2 < members.length;
    ranges.push([members[at] ?? "", members[isRange ? at + 2 : at] ?? ""]);
    if (isRange) at += 2;
  }
  return (given) => ranges.some(([from, to]) => from <= given && given <= to) !== isNot;
}
