/**
 * `requires`: what a rule needs of the engine.
 * @see https://docs.suricata.io/en/latest/rules/meta.html#requires
 */

import { findKeyword } from "./keywords/table.ts";
import { splitWords } from "./text/options.ts";

type Version = readonly [major: number, minor: number, patch: number];

/** The version of Suricata whose rules this engine reads. */
const ENGINE_VERSION: Version = [8, 0, 0];

/** Whether a rule is for this engine; `unmet` rules are left out without fault, `wrong` ones are refused. */
export type Requirement = { readonly kind: "met" } | { readonly kind: "unmet" | "wrong"; readonly reason: string };

/** @param value As `feature geoip, version >= 7.0.3 < 8 | >= 8.0.1, keyword foo`. */
export function checkRequires(value: string): Requirement {
  let versions = 0;
  for (const word of splitWords(value)) {
    const space = word.search(/\s/);
    const name = space < 0 ? word : word.slice(0, space);
    const rest = space < 0 ? "" : word.slice(space).trim();
    if (name === "" || rest === "") return { kind: "wrong", reason: `cannot read ${word || "an empty place"}` };
    if (name === "version") versions += 1;
    if (versions > 1) return { kind: "wrong", reason: "version stands twice" };
    const isMet = name === "version" ? checkVersion(rest) : name === "keyword" && typeof findKeyword(rest) !== "string";
    if (isMet === null) return { kind: "wrong", reason: `cannot read ${word}` };
    if (!isMet) return { kind: "unmet", reason: word };
  }
  return { kind: "met" };
}

function checkVersion(text: string): boolean | null {
  const choices = text.split("|").map((choice) => {
    const words = choice.replaceAll(/([<>]=?)/g, " $1 ").trim().split(/\s+/);
    const pairs = Array.from({ length: Math.ceil(words.length / 2) }, (_, index) => checkBound(words[index * 2] ?? "", words[index * 2 + 1] ?? ""));
    return pairs.every((pair) => pair !== null) ? pairs.every(Boolean) : null;
  });
  return choices.every((choice) => choice !== null) ? choices.some(Boolean) : null;
}

function checkBound(operator: string, text: string): boolean | null {
  const found = /^(\d{1,5})(?:\.(\d{1,5}))?(?:\.(\d{1,5}))?(?:-[\w.]{1,40})?$/.exec(text);
  if (!found) return null;
  const order = ENGINE_VERSION.map((part, index) => part - Number(found[index + 1] ?? 0)).find((difference) => difference !== 0) ?? 0;
  switch (operator) {
    case ">=": return order >= 0;
    case ">": return order > 0;
    case "<=": return order <= 0;
    case "<": return order < 0;
    default: return null;
  }
}
