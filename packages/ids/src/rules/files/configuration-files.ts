/**
 * Files that come beside rules: classification.config and reference.config.
 * @see https://docs.suricata.io/en/latest/rules/meta.html#classtype
 */

import type { RuleClass } from "../rule.ts";
import { readableText, readLines } from "../text/lines.ts";
import { parseNumber } from "../text/numbers.ts";

/** A line that could not be read. */
export interface LineFault {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** What a file gave, and the lines that gave nothing. */
export interface ParsedFile<T> {
  readonly entries: ReadonlyMap<string, T>;
  readonly faults: readonly LineFault[];
}

/** @returns Classes by name in lower case, of lines `config classification: name,description,priority`; the first of a name counts. */
export function parseClassifications(bytes: Uint8Array): ParsedFile<RuleClass> {
  return parseLines(bytes, "classification", (text) => {
    const words = text.split(",").map((word) => word.trim());
    const [name = "", description = "", priorityText = ""] = words;
    const priority = parseNumber(priorityText, 255);
    if (words.length !== 3 || name === "" || !priority) return null;
    return [name.toLowerCase(), { name, description: readableText(description.replace(/^"(.*)"$/, "$1")), priority }];
  });
}

/** @returns Beginnings of URLs by system in lower case, of lines `config reference: system https://…`. */
export function parseReferences(bytes: Uint8Array): ParsedFile<string> {
  return parseLines(bytes, "reference", (text) => {
    const words = text.split(/\s+/);
    const [name = "", prefix = ""] = words;
    return words.length !== 2 || name === "" || !/^https?:\/\//i.test(prefix) ? null : [name.toLowerCase(), prefix];
  });
}

function parseLines<T>(bytes: Uint8Array, kind: string, read: (text: string) => readonly [string, T] | null): ParsedFile<T> {
  const entries = new Map<string, T>();
  const faults: LineFault[] = [];
  for (const { number, text } of readLines(bytes)) {
    const value = /^config\s+(\w+)\s*:(.*)$/.exec(text ?? "");
    const entry = value?.[1] === kind ? read((value[2] ?? "").trim()) : null;
    if (!entry) faults.push({ line: number, reason: `it is no ${kind}` });
    else if (!entries.has(entry[0])) entries.set(...entry);
  }
  return { entries, faults };
}
