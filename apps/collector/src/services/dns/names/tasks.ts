import type { DnsQuery, DnsRules, ListFacts, ListFormat, MatchedRule, RefusedLine, Verdict, VerdictStep } from "@lanthorn/dns";

/** What was published, and what it is compared with. */
export interface ReadOrder {
  readonly bytes: Uint8Array;
  /** Null: found out from its beginning. */
  readonly format: ListFormat | null;
  readonly origin: string | null;
  readonly mayRewrite: boolean;
  /** Packed content of the active version; null for the first. */
  readonly before: Uint8Array | null;
  /** Its rules; 0 for the first. */
  readonly rulesBefore: number;
  readonly protectedNames: readonly string[];
  /** Days since 1970: lines that were not there before are first seen today. */
  readonly day: number;
}

/** A version as it is kept. */
export interface ReadList {
  /** Parts one after the other, each text packed by gzip. */
  readonly content: Uint8Array;
  /** Their lengths, in bytes. */
  readonly parts: readonly number[];
  /** SHA-256 of its lines, in hexadecimal. */
  readonly digest: string;
  readonly format: ListFormat;
  readonly rules: number;
  readonly refused: number;
  readonly refusals: readonly RefusedLine[];
  readonly added: number;
  readonly removed: number;
  /** Why it is to be held back; null where nothing speaks against it. */
  readonly fault: string | null;
}

/** A list of a site, with its text. */
export interface SiteList extends ListFacts {
  readonly format: ListFormat;
  readonly origin: string | null;
  readonly mayRewrite: boolean;
  readonly parts: readonly Uint8Array[];
}

/** A question, and by what it is judged. */
export interface JudgeOrder {
  /** Of the lists: a thread that has their names already needs no text. */
  readonly key: string;
  /** Null where the thread has them. */
  readonly lists: readonly SiteList[] | null;
  readonly rules: DnsRules;
  readonly query: DnsQuery;
  /** Names behind the question's, in the order of the answer. */
  readonly chain: readonly string[];
}

/** A verdict with its reasoning. */
export interface Judgement {
  readonly verdict: Omit<Verdict, "rule" | "observed" | "matches" | "exceptions"> & { readonly rule: MatchedRule | null; readonly observed: MatchedRule | null; readonly matches: readonly MatchedRule[] };
  readonly steps: readonly VerdictStep[];
}

/** What the thread does. */
export interface NameTasks {
  readonly read: { readonly input: ReadOrder; readonly output: ReadList };
  readonly judge: { readonly input: JudgeOrder; readonly output: Judgement };
}

/** A task as it is sent. */
export type NameTask = { readonly [N in keyof NameTasks]: { readonly id: number; readonly name: N; readonly input: NameTasks[N]["input"] } }[keyof NameTasks];
