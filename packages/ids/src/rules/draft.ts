/** A rule while its keywords are read. */

import { BUFFER_FACTS, type BufferName } from "./buffer-names.ts";
import type { Absent, BufferMatch, Content, Variable } from "./buffer-match.ts";
import type { Condition } from "./condition.ts";
import type { RuleHeader } from "./header/header.ts";
import type { Rule, RuleClass, RuleReference } from "./rule.ts";
import type { SharedParts } from "./load/shared-parts.ts";
import type { StateCondition } from "./state-condition.ts";
import type { Transform } from "./transform.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A content whose modifiers are still to come. */
export type DraftContent = Mutable<Content> & { fastPattern: { isOnly: boolean; offset: number; length: number } | null };

/** A group that grows. */
export interface DraftGroup {
  readonly buffer: BufferName;
  readonly transforms: Transform[];
  readonly matches: (Exclude<BufferMatch, Content> | DraftContent)[];
}

/** What rules share of a load. */
export interface RuleSettings {
  readonly classes: ReadonlyMap<string, RuleClass>;
  /** Beginnings of URLs by system. */
  readonly references: ReadonlyMap<string, string>;
  readonly shared: SharedParts;
}

/** What keywords write. */
export interface RuleDraft extends Mutable<Pick<Rule, "id" | "gid" | "revision" | "message" | "threshold" | "detectionFilter" | "tag" | "noAlert" | "class" | "target">> {
  readonly header: RuleHeader;
  readonly settings: RuleSettings;
  readonly flow: Mutable<Rule["flow"]>;
  readonly conditions: Condition[];
  readonly states: StateCondition[];
  readonly metadata: (readonly [string, string])[];
  readonly references: RuleReference[];
  readonly groups: DraftGroup[];
  readonly variables: string[];
  /** Bits of keywords that may stand once and were read. */
  seen: number;
  priority: number | null;
  /** Protocols that keywords allow so far. */
  applications: readonly string[] | null;
  /** The sticky buffer in force, with its transforms, and its group once something is asked of it. */
  sticky: { readonly buffer: BufferName; readonly transforms: Transform[]; group: DraftGroup | null } | null;
  lastContent: { readonly content: DraftContent; group: DraftGroup } | null;
  /** Where the last match that others may be relative to went. */
  lastGroup: DraftGroup | null;
}

/** @returns A draft of which no keyword is read yet. */
export function createDraft(header: RuleHeader, settings: RuleSettings): RuleDraft {
  return {
    header, settings, id: 0, gid: 1, revision: 0, message: "", threshold: null, detectionFilter: null, tag: null, noAlert: false, class: null, target: null,
    flow: { direction: null, state: null, stream: null, fragments: null }, conditions: [], states: [], metadata: [], references: [], groups: [], variables: [],
    seen: 0, priority: null, applications: header.protocol.applications, sticky: null, lastContent: null, lastGroup: null,
  };
}

/** @returns The group of a buffer without transforms, or with those of the sticky buffer; made where there is none. */
export function groupOf(draft: RuleDraft, buffer: BufferName, transforms: Transform[] = [], isNew = false): DraftGroup {
  const found = isNew ? undefined : draft.groups.find((group) => group.buffer === buffer && sameTransforms(group.transforms, transforms));
  if (found) return found;
  const group: DraftGroup = { buffer, transforms, matches: [] };
  draft.groups.push(group);
  return group;
}

/** @returns Where a match goes: to the sticky buffer, where the last match is that it is relative to, or to the payload. */
export function activeGroup(draft: RuleDraft, isRelative: boolean): DraftGroup {
  const { sticky } = draft;
  if (!sticky) return (isRelative ? draft.lastGroup : null) ?? groupOf(draft, "payload");
  sticky.group ??= groupOf(draft, sticky.buffer, sticky.transforms, BUFFER_FACTS.get(sticky.buffer)?.isMultiple ?? false);
  return sticky.group;
}

/** Puts a match in its group; those that move the place are what later ones are relative to. */
export function addMatch(draft: RuleDraft, match: DraftGroup["matches"][number] | Absent, isRelative = false): DraftGroup {
  const group = activeGroup(draft, isRelative);
  group.matches.push(match);
  if (match.kind !== "size" && match.kind !== "is-data-at") draft.lastGroup = group;
  return group;
}

/** A content that is one keyword, and where it is. */
export interface WholeContent extends Pick<Content, "isNegated" | "ignoreCase" | "endsWith"> {
  readonly buffer: BufferName;
  /** Begins where the buffer begins. */
  readonly isWhole: boolean;
}

/** Puts a content in the buffer that its keyword names, whatever is sticky. */
export function addContent(draft: RuleDraft, bytes: Uint8Array, { buffer, isNegated, ignoreCase, isWhole, endsWith }: WholeContent): void {
  const group = groupOf(draft, buffer, [], BUFFER_FACTS.get(buffer)?.isMultiple ?? false);
  const placed = isWhole ? { offset: 0, depth: bytes.length } : {};
  group.matches.push({ ...EMPTY_CONTENT, bytes: ignoreCase ? draft.settings.shared.lowerCase(bytes) : bytes, isNegated, ignoreCase, endsWith, ...placed });
}

/** A content without modifiers. */
export const EMPTY_CONTENT: Readonly<Omit<DraftContent, "bytes">> = {
  kind: "content", isNegated: false, ignoreCase: false, offset: null, depth: null, distance: null, within: null, endsWith: false, fastPattern: null,
};

/** @returns A variable that was read before, or `null`. */
export function findVariable(draft: RuleDraft, name: string): Variable | null {
  const variable = draft.variables.indexOf(name);
  return variable < 0 ? null : { variable };
}

/** @returns The variable of this name, which is new where nothing wrote it before. */
export function makeVariable(draft: RuleDraft, name: string): Variable {
  if (!draft.variables.includes(name)) draft.variables.push(name);
  return { variable: draft.variables.indexOf(name) };
}

/** @returns The reason where the rule asks for protocols that exclude each other, else `null`. */
export function needApplications(draft: RuleDraft, applications: readonly string[]): string | null {
  if (applications.length === 0) return null;
  const allowed = draft.applications?.filter((name) => applications.includes(name)) ?? applications;
  if (allowed.length === 0) return `it is of ${applications.join(", ")}, and the rule of ${draft.applications?.join(", ") ?? ""}`;
  draft.applications = allowed;
  return null;
}

/** @returns The reason where a sticky buffer was named and nothing asked of it, else `null`. */
export function closeSticky(draft: RuleDraft): string | null {
  return draft.sticky && !draft.sticky.group ? `nothing is asked of ${draft.sticky.buffer}` : null;
}

function sameTransforms(a: readonly Transform[], b: readonly Transform[]): boolean {
  return a.length === b.length && a.every((transform, index) => JSON.stringify(transform) === JSON.stringify(b[index]));
}
