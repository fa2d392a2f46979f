import { parse } from "tldts";
import type { ListRule } from "./list-rule.ts";
import { countLabels, formatKey } from "../names/name-key.ts";

/** What an update must not do. */
export interface ListGuardOptions {
  /** Rules of the version in use; 0 for the first. */
  readonly rulesBefore: number;
  /** Names that no list may block, nor a name above them with what is below it. */
  readonly protectedNames: readonly string[];
  /** Suffixes of private operators, such as `duckdns.org`, may be blocked: lists of such operators are made of them. */
  readonly mayBlockPrivateSuffixes: boolean;
}

/** Why an update is refused; the version in use stays. */
export interface ListFault {
  readonly code: "empty" | "shrinks" | "public-suffix" | "protected-name";
  readonly reason: string;
  /** The first names that it is about, at most 10. */
  readonly names: readonly string[];
}

/** Looks at the rules of an update one by one, and judges it at its end. */
export interface ListGuard {
  look(rule: ListRule): void;
  /** @returns Null where nothing speaks against it. */
  readonly fault: () => ListFault | null;
}

const MAX_NAMES = 10;
/** No public suffix has more labels. https://publicsuffix.org/list/ */
const MAX_SUFFIX_LABELS = 5;
/** An update must keep this share of the rules. */
const MIN_SHARE = 0.5;

/** For one update of one list. */
export function createListGuard({ rulesBefore, protectedNames, mayBlockPrivateSuffixes }: ListGuardOptions): ListGuard {
  const own = new Set(protectedNames.map((name) => name.toLowerCase()));
  const above = new Set([...own].flatMap(namesAbove));
  const found = { suffixes: new Set<string>(), protected: new Set<string>() };
  let rules = 0;
  const note = (names: Set<string>, name: string) => {
    if (names.size < MAX_NAMES) names.add(name);
  };

  return {
    look({ trigger, key, scope, body }) {
      rules += 1;
      if (trigger !== "qname" || body.isCancel || !takesNamesAway(body.effect.kind)) return;
      if (countLabels(key) > MAX_SUFFIX_LABELS && own.size === 0) return;
      const name = formatKey(key);
      if (isSuffix(name, scope, mayBlockPrivateSuffixes)) note(found.suffixes, name);
      if ((own.has(name) && scope !== "subdomains") || (above.has(name) && scope !== "exact")) note(found.protected, name);
    },
    fault() {
      if (rules === 0) return { code: "empty", reason: "the list has no rules", names: [] };
      if (rules < rulesBefore * MIN_SHARE) return { code: "shrinks", reason: `the list shrinks from ${rulesBefore} rules to ${rules}`, names: [] };
      if (found.suffixes.size > 0) return { code: "public-suffix", reason: "the list blocks public suffixes", names: [...found.suffixes] };
      if (found.protected.size > 0) return { code: "protected-name", reason: "the list blocks protected names", names: [...found.protected] };
      return null;
    },
  };
}

function takesNamesAway(kind: ListRule["body"]["effect"]["kind"]): boolean {
  return kind === "block" || kind === "records" || kind === "rewrite";
}

/** A name below which names are registered; with what is below it also the root, and a last label that nobody delegated. */
function isSuffix(name: string, scope: ListRule["scope"], mayBlockPrivateSuffixes: boolean): boolean {
  if (scope !== "exact" && (!name.includes(".") || name === ".")) return true;
  const { publicSuffix, isIcann } = parse(name, { allowPrivateDomains: true, extractHostname: false, validateHostname: false, mixedInputs: false });
  return publicSuffix === name && (isIcann === true || !mayBlockPrivateSuffixes);
}

/** The name itself, the names above it, and the root. */
function namesAbove(name: string): readonly string[] {
  const labels = name.split(".");
  return [...labels.map((_, index) => labels.slice(index).join(".")), "."];
}
