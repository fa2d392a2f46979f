/** How blocked names are answered. */
import { DNS_TYPE } from "@lanthorn/packets";
import type { BlockAnswer } from "../lists/list-rule.ts";
import type { RecordText } from "../lists/record-text.ts";
import type { Policy, PolicyAnswer } from "./policy.ts";
import type { ExtendedError, MatchedRule, VerdictAnswer } from "./verdict.ts";

/** Short, so that a name that is allowed is soon there again. */
export const BLOCK_TTL_SECONDS = 10;

const ZERO: PolicyAnswer = { kind: "sinkhole", ipv4: "0.0.0.0", ipv6: "::" };

/** @param wanted What the rule asks for; `default` is as the policy says. @param type Of the question. */
export function blockAnswer(wanted: Exclude<BlockAnswer, "drop">, policy: PolicyAnswer, type: number): VerdictAnswer {
  if (wanted !== "default" && wanted !== "zero") return { kind: wanted };
  const answer = wanted === "zero" || policy.kind === "zero" ? ZERO : policy;
  if (answer.kind !== "sinkhole") return { kind: answer.kind === "zero" ? "nodata" : answer.kind };
  const address = type === DNS_TYPE.a ? answer.ipv4 : type === DNS_TYPE.aaaa ? answer.ipv6 : null;
  return address === null ? { kind: "nodata" } : { kind: "records", records: [{ type, ttlSeconds: BLOCK_TTL_SECONDS, data: { kind: "address", address } }] };
}

/** A list's own records: those of the asked type, else a CNAME, else none. */
export function recordsAnswer(records: readonly RecordText[], type: number): VerdictAnswer {
  const alias = records.filter((record) => record.type === DNS_TYPE.cname).slice(0, 1);
  const wanted = type === DNS_TYPE.any ? records : records.filter((record) => record.type === type);
  const chosen = alias.length > 0 ? alias : wanted;
  return chosen.length === 0 ? { kind: "nodata" } : { kind: "records", records: chosen };
}

/** Lists of names that somebody else than the operator wants to be blocked. */
const CENSORSHIP_CATEGORY = "legal";

/** @returns The error that names the list: what an operator finds in the client's log. */
export function extendedErrorOf(policy: Policy, { listName, category }: Pick<MatchedRule, "listName" | "category">): ExtendedError {
  const isOwnChoice = policy.scope.kind === "device" || policy.scope.kind === "group";
  return { code: category === CENSORSHIP_CATEGORY ? 16 : isOwnChoice ? 17 : 15, text: `${listName} (${category})` };
}
