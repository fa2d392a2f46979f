import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { idsCategoryKey, idsCategoryOf } from "@lanthorn/contract";
import { findRefusedExpression, type ListedRule, parseClassifications, parseReferences, parseRules, readRuleList, type Rule } from "@lanthorn/ids";
import { type PublishedFile, unpackRules } from "./archive.ts";
import { FileRefused } from "../../../sources/file-refused.ts";
import { type RuleContent, type RuleCounts, type RuleRecord, ruleKey, type UnreadableRule } from "./records.ts";

/** Of all files together, unpacked. Emerging Threats' open rules have 30 MB. */
const MAX_UNPACKED_BYTES = 160_000_000;
const MAX_FILES = 2000;
/** Emerging Threats' open rules are 50,000, those that are off included. */
const MAX_RULES = 150_000;
const MAX_UNREADABLE = 1000;
const MAX_UNSET_BITS = 500;
const MAX_MESSAGE = 512;

/** A version as it is stored. */
export interface PackedRules {
  readonly content: Uint8Array;
  /** SHA-256 of what it says, in hexadecimal. */
  readonly digest: string;
  readonly counts: RuleCounts;
}

interface Entry extends ListedRule {
  readonly file: string;
  readonly text: string;
}

/**
 * Reads what was published. A rule that cannot be run is refused alone and stays visible.
 * @throws FileRefused for an archive that is not taken, too many rules, or none.
 */
export function readPublished(bytes: Uint8Array, name: string): PackedRules {
  const files = unpackRules(bytes, name, { maxUnpackedBytes: MAX_UNPACKED_BYTES, maxFiles: MAX_FILES }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const ofName = (wanted: string) => files.filter((file) => file.name === wanted).map((file) => Buffer.from(file.bytes).toString("latin1")).join("\n");
  const [classification, references, thresholds] = ["classification.config", "reference.config", "threshold.config"].map(ofName) as [string, string, string];
  const ruleFiles = files.length === 1 ? files : files.filter((file) => file.name.endsWith(".rules"));
  const { entries, unreadable } = listRules(ruleFiles);
  const parsed = parseEntries(entries, { classification, references });
  const rules = withoutDoubles(parsed.records);
  if (rules.length === 0) throw new FileRefused("there is no rule in it");
  const content: RuleContent = {
    v: 1, rules, unreadable: [...unreadable, ...parsed.unreadable].slice(0, MAX_UNREADABLE), unsetBits: parsed.unsetBits, classification, references, thresholds,
  };
  const text = JSON.stringify(content);
  return { content: gzipSync(text, { level: 6 }), digest: createHash("sha256").update(text).digest("hex"), counts: countRules(content) };
}

/** @throws Error for what this program has not written. */
export function openContent(packed: Uint8Array): RuleContent {
  return JSON.parse(gunzipSync(packed, { maxOutputLength: 4 * MAX_UNPACKED_BYTES }).toString("utf8")) as RuleContent;
}

/** How much there is in it. */
export function countRules({ rules }: Pick<RuleContent, "rules">): RuleCounts {
  const enabled = rules.filter(({ isOn }) => isOn);
  return { rules: rules.length, enabled: enabled.length, refused: enabled.filter(({ refusal }) => refusal !== null).length };
}

function listRules(files: readonly PublishedFile[]): { readonly entries: readonly Entry[]; readonly unreadable: readonly UnreadableRule[] } {
  const entries: Entry[] = [];
  const unreadable: UnreadableRule[] = [];
  for (const { name, bytes } of files) {
    const file = idsCategoryKey(name.replace(/\.rules$/, "").slice(0, 100));
    for (const { line, text, isOn } of readRuleList(bytes)) {
      if (text === null) {
        if (unreadable.length < MAX_UNREADABLE) unreadable.push({ file, line, keyword: "rule", reason: "it is too long" });
        continue;
      }
      entries.push({ file, line, text, isOn });
      if (entries.length > MAX_RULES) throw new FileRefused(`it has more than ${MAX_RULES} rules`);
    }
  }
  return { entries, unreadable };
}

function parseEntries(entries: readonly Entry[], files: { readonly classification: string; readonly references: string }) {
  const classes = parseClassifications(Buffer.from(files.classification, "latin1")).entries;
  const references = parseReferences(Buffer.from(files.references, "latin1")).entries;
  const { rules, refusals, unmet, unsetBits } = parseRules(Buffer.from(entries.map(({ text }) => text).join("\n"), "latin1"), { classes, references });
  const byLine = new Map(rules.map((rule) => [rule.line, rule]));
  const refused = new Map([...refusals, ...unmet].map((refusal) => [refusal.line, refusal]));
  const records: RuleRecord[] = [];
  const unreadable: UnreadableRule[] = [];
  for (const [index, entry] of entries.entries()) {
    const rule = byLine.get(index + 1);
    const refusal = refused.get(index + 1);
    if (rule) records.push(recordOf(entry, rule));
    else if (refusal && refusal.id !== null && refusal.keyword !== "sid") records.push(refusedRecord(entry, { ...refusal, id: refusal.id }));
    else if (refusal && entry.isOn && unreadable.length < MAX_UNREADABLE) unreadable.push({ file: entry.file, line: entry.line, keyword: refusal.keyword, reason: refusal.reason });
  }
  return { records, unreadable, unsetBits: unsetBits.slice(0, MAX_UNSET_BITS).map(({ name }) => name) };
}

function recordOf({ file, text, isOn }: Entry, rule: Rule): RuleRecord {
  return {
    gid: rule.gid, sid: rule.id, revision: rule.revision, message: rule.message.slice(0, MAX_MESSAGE), className: rule.class?.name ?? "", severity: rule.severity,
    action: rule.action, protocol: rule.protocol.name, isOn, category: idsCategoryOf(rule.message) || file, file, techniques: rule.techniques, metadata: rule.metadata,
    refusal: shorten(findRefusedExpression(rule)), text,
  };
}

function refusedRecord({ file, text, isOn }: Entry, refusal: { readonly gid: number; readonly id: number; readonly keyword: string; readonly reason: string }): RuleRecord {
  const message = between(text, 'msg:"', '"').slice(0, MAX_MESSAGE);
  const [action = "", protocol = ""] = text.slice(0, 64).split(" ");
  return {
    gid: refusal.gid, sid: refusal.id, revision: Number.parseInt(between(text, "rev:", ";"), 10) || 0, message, className: between(text, "classtype:", ";").slice(0, 64),
    severity: "info", action, protocol, isOn, category: idsCategoryOf(message) || file, file, techniques: [], metadata: [],
    refusal: shorten(refusal), text,
  };
}

function shorten(refusal: { readonly keyword: string; readonly reason: string } | null): RuleRecord["refusal"] {
  return refusal && { keyword: refusal.keyword.slice(0, 64), reason: refusal.reason.slice(0, 255) };
}

function between(text: string, before: string, after: string): string {
  const begin = text.indexOf(before);
  const end = begin < 0 ? -1 : text.indexOf(after, begin + before.length);
  return end < 0 ? "" : text.slice(begin + before.length, end).trim();
}

/** Of two with one number the higher revision counts, then the one that is on. */
function withoutDoubles(records: readonly RuleRecord[]): readonly RuleRecord[] {
  const kept = new Map<string, RuleRecord>();
  for (const record of records) {
    const other = kept.get(ruleKey(record));
    const isBetter = !other || record.revision > other.revision || (record.revision === other.revision && record.isOn && !other.isOn);
    if (isBetter) kept.set(ruleKey(record), record);
  }
  return [...kept.values()];
}
