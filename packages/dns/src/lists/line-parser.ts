import type { ListRule, RuleBody } from "./list-rule.ts";
import { parseHostName } from "../names/name-key.ts";

/** Takes what a line says; a line may say several things. */
export type EmitRule = (rule: ListRule) => void;

/** Reads one format, line by line. What it refuses it refuses with a reason, a few words; null is fine, comments and empty lines too. */
export interface LineParser {
  line(text: string, emit: EmitRule): string | null;
  /** After the last line. @returns Why the end cannot be, or null. */
  readonly end: () => string | null;
}

/** What a list may do, by whoever put it to use. */
export interface ListOptions {
  /** May answer with addresses and names of its own. A list that somebody else writes could lead a bank's customers anywhere. */
  readonly mayRewrite: boolean;
  /** Of RPZ: the zone's name, where the file does not say it. Null otherwise. */
  readonly origin: string | null;
}

/** Reasons that several formats have. */
export const REASON = {
  noName: "is no name of a host",
  mayNotRewrite: "answers with records of its own, which this list may not",
  noAddress: "does not begin with an address",
} as const;

/** A parser of a format in which every line stands alone. */
export function eachLine(line: LineParser["line"]): LineParser {
  return { line, end: () => null };
}

/** Emits a rule for a name. @returns A reason where it is none. */
export function emitName(text: string, scope: ListRule["scope"], body: RuleBody, emit: EmitRule): string | null {
  const key = parseHostName(text);
  if (key === null) return REASON.noName;
  emit({ trigger: "qname", key, scope, body });
  return null;
}

/** The text before a mark that begins a comment, without space at its ends. */
export function withoutComment(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return (at < 0 ? text : text.slice(0, at)).trim();
}
