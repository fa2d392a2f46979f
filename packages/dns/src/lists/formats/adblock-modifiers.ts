/** What stands behind the `$` of an adblock rule. @see https://adguard-dns.io/kb/general/dns-filtering-syntax/#rule-modifiers */
import { formatIp, formatPrefix, parseIp, parsePrefix } from "@lanthorn/packets";
import { parseDnsRewrite } from "./dns-rewrite.ts";
import type { ClientTerm, RuleBody, RuleConditions, RuleEffect } from "../list-rule.ts";
import { REASON } from "../line-parser.ts";
import { formatKey, parseHostName } from "../../names/name-key.ts";
import { parseRecordType } from "../record-text.ts";

const MAX_VALUES = 64;

interface Draft {
  isImportant: boolean;
  isCancel: boolean;
  types: readonly number[];
  areTypesExcluded: boolean;
  clients: readonly ClientTerm[];
  exceptNames: readonly string[];
  /** `$dnsrewrite`; null without a value, undefined where it is not there. */
  rewrite: RuleEffect | null | undefined;
}

/** Reads a modifier's value into the draft. @returns A reason where it cannot be. */
type ReadModifier = (draft: Draft, value: string) => string | null;

const MODIFIERS: Readonly<Record<string, ReadModifier>> = {
  important: (draft, value) => flag(value, () => { draft.isImportant = true; }),
  badfilter: (draft, value) => flag(value, () => { draft.isCancel = true; }),
  dnstype: readTypes,
  client: readClients,
  denyallow: readExceptNames,
  dnsrewrite: readRewrite,
};

/**
 * @param text What follows the first `$`.
 * @returns The reason where a modifier is unknown or its value is none.
 */
export function parseModifiers(text: string, isException: boolean, mayRewrite: boolean): RuleBody | string {
  const draft: Draft = { isImportant: false, isCancel: false, types: [], areTypesExcluded: false, clients: [], exceptNames: [], rewrite: undefined };
  const modifiers = splitUnescaped(text, ",");
  if (modifiers.length > MAX_VALUES) return "has too many modifiers";
  for (const modifier of modifiers) {
    const equals = modifier.indexOf("=");
    const name = equals < 0 ? modifier : modifier.slice(0, equals);
    const read = Object.hasOwn(MODIFIERS, name) ? MODIFIERS[name] : undefined;
    const reason = read ? read(draft, equals < 0 ? "" : modifier.slice(equals + 1)) : `has the unknown modifier "${name.slice(0, 30)}"`;
    if (reason !== null) return reason;
  }
  const effect = effectOf(draft, isException);
  if (effect === null) return "rewrites to nothing";
  if (effect.kind === "rewrite" && effect.records.length > 0 && !mayRewrite) return REASON.mayNotRewrite;
  const { isImportant, types, areTypesExcluded, clients, exceptNames } = draft;
  const conditions: RuleConditions | null = isImportant || types.length + clients.length + exceptNames.length > 0
    ? { isImportant, types, areTypesExcluded, clients, exceptNames } : null;
  return { effect, conditions, isCancel: draft.isCancel };
}

function effectOf({ rewrite, isCancel }: Draft, isException: boolean): RuleEffect | null {
  if (rewrite === undefined) return isException ? { kind: "allow" } : { kind: "block", answer: "default" };
  if (isException) return { kind: "no-rewrite", rewrite };
  // What takes away a rewrite names it; only an exception may mean all of them.
  return rewrite ?? (isCancel ? { kind: "no-rewrite", rewrite: null } : null);
}

function flag(value: string, set: () => void): string | null {
  if (value !== "") return "gives a value to a modifier that has none";
  set();
  return null;
}

/** `A|AAAA`, or `~A|~AAAA` for all but these. */
function readTypes(draft: Draft, value: string): string | null {
  const words = value.split("|");
  const isExcluded = value.startsWith("~");
  const types = words.map((word) => (word.startsWith("~") === isExcluded ? parseRecordType(isExcluded ? word.slice(1) : word) : null));
  if (words.length > MAX_VALUES || types.includes(null)) return "has types that are unknown, or both wanted and not";
  draft.types = types.filter((type) => type !== null).toSorted((a, b) => a - b);
  draft.areTypesExcluded = isExcluded;
  return null;
}

/** Addresses, networks and names, which may stand in quotes, each with `~` for all others. */
function readClients(draft: Draft, value: string): string | null {
  const words = splitUnescaped(value, "|");
  const clients = words.map((word) => {
    const isExcluded = word.startsWith("~");
    return { isExcluded, text: normalizeClient(isExcluded ? word.slice(1) : word) };
  });
  if (clients.length > MAX_VALUES || clients.some(({ text }) => text === "")) return "names a client without a name, or too many";
  draft.clients = clients;
  return null;
}

/** One spelling of each, so that addresses compare as text. */
function normalizeClient(word: string): string {
  const quote = word[0];
  const isQuoted = word.length > 1 && (quote === "'" || quote === "\"") && word.endsWith(quote);
  if (isQuoted) return word.slice(1, -1);
  const address = parseIp(word);
  if (address) return formatIp(address);
  const prefix = word.includes("/") ? parsePrefix(word) : null;
  return prefix ? formatPrefix(prefix) : word;
}

function readExceptNames(draft: Draft, value: string): string | null {
  const keys = value.split("|").map(parseHostName);
  if (keys.length > MAX_VALUES || keys.includes(null)) return "spares what is no name, or too many";
  draft.exceptNames = keys.flatMap((key) => (key === null ? [] : formatKey(key)));
  return null;
}

function readRewrite(draft: Draft, value: string): string | null {
  const rewrite = value === "" ? null : parseDnsRewrite(value);
  if (rewrite === undefined) return "rewrites to what cannot be read";
  draft.rewrite = rewrite;
  return null;
}

/** Splits at a mark but where a backslash stands before it, which goes. */
function splitUnescaped(text: string, mark: string): readonly string[] {
  const parts: string[] = [];
  let part = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === "\\" && text[at + 1] === mark) {
      part += mark;
      at += 1;
    } else if (character === mark) {
      parts.push(part);
      part = "";
    } else part += character;
  }
  return [...parts, part];
}
