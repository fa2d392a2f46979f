/** One rule, from its text to what can be run. */

import { BUFFER_FACTS } from "./buffer-names.ts";
import { closeSticky, createDraft, type DraftGroup, type RuleDraft, type RuleSettings } from "./draft.ts";
import { type HeaderReaders, parseHeader } from "./header/header.ts";
import { idOf } from "./keywords/meta.ts";
import { findKeyword } from "./keywords/table.ts";
import { checkRequires } from "./requires.ts";
import type { BufferGroup, FastPattern, Rule } from "./rule.ts";
import { DEFAULT_PRIORITY, type SharedParts } from "./load/shared-parts.ts";
import { severityOf, techniquesOf } from "./severity.ts";
import { type RuleOption, splitRule } from "./text/options.ts";

/** Why a rule does not run. */
export interface Refusal {
  /** Line on which it begins, from 1. */
  readonly line: number;
  /** `null` where it has none that can be read. */
  readonly id: number | null;
  readonly gid: number;
  /** The keyword that is at fault, or `header`, `action`, `source` and the like. */
  readonly keyword: string;
  readonly reason: string;
}

/** A rule, why there is none, or that it is for another engine. */
export type RuleResult =
  | { readonly kind: "rule"; readonly rule: Rule }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "unmet"; readonly refusal: Refusal };

/** What rules share of a load. */
export interface RuleContext {
  readonly readers: HeaderReaders;
  readonly settings: RuleSettings;
}

/** @param text One logical line that is no comment. */
export function parseRule(text: string, line: number, { readers, settings }: RuleContext): RuleResult {
  const parts = splitRule(text);
  const options = parts.ok ? parts.options : [];
  const refuse = (keyword: string, reason: string, kind: "refused" | "unmet" = "refused"): RuleResult =>
    ({ kind, refusal: { line, id: parts.ok ? idOf(options, "sid") : null, gid: idOf(options, "gid") ?? 1, keyword, reason } });
  if (!parts.ok) return refuse("rule", parts.reason);
  for (const option of options) {
    const requirement = option.name === "requires" ? checkRequires(option.value ?? "") : null;
    if (requirement && requirement.kind !== "met") return refuse("requires", requirement.reason, requirement.kind === "unmet" ? "unmet" : "refused");
  }
  const header = parseHeader(parts.header, readers);
  if (!header.ok) return refuse(header.keyword, header.reason);
  const draft = createDraft(header.header, settings);
  for (const option of options) {
    const reason = readOption(draft, option);
    if (reason !== null) return refuse(option.name.slice(0, 60), reason);
  }
  const fault = checkWhole(draft);
  return fault ? refuse(fault.keyword, fault.reason) : { kind: "rule", rule: toRule(draft, line) };
}

/** Keywords that are read but once; Suricata refuses rules that repeat them. */
const SINGLE: ReadonlyMap<string, number> = new Map(["sid", "gid", "rev", "msg", "classtype", "priority"].map((name, index) => [name, 1 << index]));

function readOption(draft: RuleDraft, { name, value }: RuleOption): string | null {
  const keyword = findKeyword(name);
  if (typeof keyword === "string") return keyword;
  const single = SINGLE.get(name);
  if (single !== undefined) {
    if ((draft.seen & single) !== 0) return "it stands twice";
    draft.seen |= single;
  }
  return keyword(draft, value ?? "");
}

/** What no keyword can see alone. */
function checkWhole(draft: RuleDraft): { readonly keyword: string; readonly reason: string } | null {
  if (draft.id === 0) return { keyword: "sid", reason: "it is missing" };
  const open = closeSticky(draft);
  if (open !== null) return { keyword: draft.sticky?.buffer ?? "", reason: open };
  const sided = draft.groups.filter((group) => group.matches.length > 0).map(({ buffer }) => ({ buffer, direction: BUFFER_FACTS.get(buffer)?.direction ?? "any" }));
  for (const { buffer, direction } of sided) {
    if (direction === "any") continue;
    if (draft.flow.direction === null) draft.flow.direction = direction;
    if (draft.flow.direction !== null && draft.flow.direction !== direction) return { keyword: buffer, reason: `it is of bytes ${direction}, and the rule of bytes ${draft.flow.direction}` };
  }
  const count = draft.groups.reduce((sum, group) => sum + group.matches.length, 0);
  return count > MAX_MATCHES ? { keyword: "content", reason: `the rule has more than ${MAX_MATCHES} matches` } : null;
}

/** Emerging Threats' longest rules have some forty. */
const MAX_MATCHES = 500;

function toRule(draft: RuleDraft, line: number): Rule {
  const { header, settings: { shared } } = draft;
  const groups = draft.groups.filter((group) => group.matches.length > 0);
  const metadata = trimmed(draft.metadata);
  const priority = draft.priority ?? draft.class?.priority ?? DEFAULT_PRIORITY;
  return {
    id: draft.id, gid: draft.gid, revision: draft.revision, message: draft.message, line,
    action: header.action, protocol: shared.protocol(header.protocol, draft.applications), source: shared.end(header.source.addresses, header.source.ports),
    destination: shared.end(header.destination.addresses, header.destination.ports), isBidirectional: header.isBidirectional,
    flow: shared.flow(draft.flow), conditions: trimmed(draft.conditions), buffers: groups.map((group) => toGroup(group, shared)), variables: trimmed(draft.variables),
    fastPattern: findFastPattern(groups), states: trimmed(draft.states), threshold: draft.threshold, detectionFilter: draft.detectionFilter, tag: draft.tag, noAlert: draft.noAlert,
    class: draft.class, priority, severity: severityOf(metadata, priority), references: trimmed(draft.references), metadata, techniques: trimmed(techniquesOf(metadata)), target: draft.target,
  };
}

const NOTHING: readonly never[] = [];

/** @returns The same without room to grow; what is empty is one object. */
function trimmed<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NOTHING : list.slice();
}

function toGroup({ buffer, transforms, matches }: DraftGroup, shared: SharedParts): BufferGroup {
  return { buffer, transforms: trimmed(transforms), matches: matches.map((match) => (match.kind === "content" ? shared.content(match) : match)) };
}

function findFastPattern(groups: readonly DraftGroup[]): FastPattern | null {
  for (const [group, { matches }] of groups.entries()) {
    for (const [index, match] of matches.entries()) {
      if (match.kind === "content" && match.fastPattern) return { group, match: index, ...match.fastPattern };
    }
  }
  return null;
}
