/** What a line of a block list says, whatever the format: a key, what it is compared with, and what is to be done. */
import type { RecordText } from "./record-text.ts";

/**
 * What of a query or of its answer a rule is compared with: the client's address, a name (of the question or of its chain of CNAMEs), an
 * address of the answer, and name and address of a server that answered for the name.
 * @see draft-vixie-dnsop-dns-rpz section 4
 */
export type RuleTrigger = "client-ip" | "qname" | "ip" | "nsdname" | "nsip";

/** Whether a rule is for its name, for the names below it, or for both. */
export type RuleScope = "exact" | "subdomains" | "both";

/** How a blocked name is answered; `default` is as the policy says. `drop` is silence. */
export type BlockAnswer = "default" | "nxdomain" | "nodata" | "refused" | "servfail" | "zero" | "drop";

/** What a rule does. */
export type RuleEffect =
  | { readonly kind: "block"; readonly answer: BlockAnswer }
  /** An exception: `@@` of adblock lists, `rpz-passthru.` of RPZ. */
  | { readonly kind: "allow" }
  /** `rpz-tcp-only.`: over UDP an answer that says it is cut. */
  | { readonly kind: "tcp-only" }
  /** Records of the list's own; a name that has some and none of the wanted type is answered without any. */
  | { readonly kind: "records"; readonly records: readonly RecordText[] }
  /** `$dnsrewrite`: records, or none and a response code. */
  | { readonly kind: "rewrite"; readonly answer: "nxdomain" | "nodata" | "refused" | "servfail"; readonly records: readonly RecordText[] }
  /** `@@…$dnsrewrite`: takes away one rewrite, or all of them for `null`. */
  | { readonly kind: "no-rewrite"; readonly rewrite: RuleEffect | null };

/** One of `$client`'s words: an address, a network, or the name of a client. */
export interface ClientTerm {
  readonly isExcluded: boolean;
  readonly text: string;
}

/** What else must be true for a rule to count. An empty list asks for nothing. */
export interface RuleConditions {
  /** Beats all rules that are not important. */
  readonly isImportant: boolean;
  /** Types of the question; where `areTypesExcluded`, all others. */
  readonly types: readonly number[];
  readonly areTypesExcluded: boolean;
  readonly clients: readonly ClientTerm[];
  /** `$denyallow`: not for these names and those below them. */
  readonly exceptNames: readonly string[];
}

/** What is the same for many names: rules share one. */
export interface RuleBody {
  readonly effect: RuleEffect;
  /** Null asks for nothing. */
  readonly conditions: RuleConditions | null;
  /** `$badfilter`: takes away the rule that is otherwise the same. */
  readonly isCancel: boolean;
}

/** One rule of a list. */
export interface ListRule {
  readonly trigger: RuleTrigger;
  /** A name or a network, see `names/name-key.ts`. Good until the next rule. */
  readonly key: Uint8Array;
  readonly scope: RuleScope;
  readonly body: RuleBody;
}

/** A name that is blocked without conditions: nearly all lines of nearly all lists. */
export const PLAIN_BLOCK: RuleBody = { effect: { kind: "block", answer: "default" }, conditions: null, isCancel: false };

/** An exception without conditions. */
export const PLAIN_ALLOW: RuleBody = { effect: { kind: "allow" }, conditions: null, isCancel: false };

/** A body without conditions. */
export function bodyOf(effect: RuleEffect): RuleBody {
  return { effect, conditions: null, isCancel: false };
}
