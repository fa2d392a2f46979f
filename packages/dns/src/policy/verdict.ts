import type { RuleEffect, RuleScope, RuleTrigger } from "../lists/list-rule.ts";
import type { RecordText } from "../lists/record-text.ts";

/** Where what a rule was compared with stands: in the question, or in a part of the answer. */
export interface MatchedRecord {
  readonly section: "question" | "client" | "cname" | "svcb" | "address" | "name-server";
  /** A name or an address. */
  readonly value: string;
}

/** A rule that holds for a query. */
export interface MatchedRule {
  readonly listId: string;
  readonly listName: string;
  readonly category: string;
  readonly listKind: "filter" | "rpz";
  readonly trigger: RuleTrigger;
  /** The rule's own name or network. */
  readonly name: string;
  readonly scope: RuleScope;
  readonly effect: RuleEffect;
  readonly isImportant: boolean;
  /** The list is only observed, by itself or by the policy. */
  readonly isObserved: boolean;
  /** Days since 1970. */
  readonly firstSeenDay: number;
  readonly record: MatchedRecord;
}

/** How the client is answered in place of the truth. Records are of the asked type, or a CNAME that is followed. */
export type VerdictAnswer =
  | { readonly kind: "nxdomain" | "nodata" | "refused" | "servfail" }
  | { readonly kind: "records"; readonly records: readonly RecordText[] };

/** An extended error. @see RFC 8914 sections 4.16 to 4.18 */
export interface ExtendedError {
  /** 15 blocked by the operator, 16 censored by others, 17 filtered for this client. */
  readonly code: 15 | 16 | 17;
  readonly text: string;
}

/** Why it is as it is. */
export type VerdictReason = "no-match" | "no-policy" | "paused" | "allowance" | "exception" | "rule" | "private-relay" | "browser-dns";

/** What is done with a query. */
export interface Verdict {
  /** `drop` answers nothing, `truncate` answers that the client should ask over TCP. */
  readonly action: "allow" | "block" | "rewrite" | "drop" | "truncate";
  readonly reason: VerdictReason;
  /** The answer of the servers cannot change it any more: there is no need to ask them. */
  readonly isFinal: boolean;
  readonly policyId: string | null;
  /** The rule that decided, also where it is an exception. */
  readonly rule: MatchedRule | null;
  /** Exceptions that hold: where one is of a kind of list, no list of that kind is asked about the answer. */
  readonly exceptions: readonly MatchedRule[];
  /** All rules that hold, of all lists of the policy. */
  readonly matches: readonly MatchedRule[];
  /** Null where the truth is answered, or nothing. */
  readonly answer: VerdictAnswer | null;
  readonly extendedError: ExtendedError | null;
  /** The rule that would have blocked or rewritten, were it not only observed. */
  readonly observed: MatchedRule | null;
  /** The name that an exception must be for: of the record that was blocked, which need not be the question's. Null where none would help. */
  readonly allowName: string | null;
}

/** One step of the reasoning. */
export interface VerdictStep {
  readonly step: "policy" | "pause" | "allowance" | "special-name" | "filter-lists" | "response-zone" | "result";
  /** What was compared, where it was a record. */
  readonly record: MatchedRecord | null;
  /** A sentence. */
  readonly text: string;
}
