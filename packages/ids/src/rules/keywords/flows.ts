/**
 * `flow`, and what rules remember of flows and hosts.
 * @see https://docs.suricata.io/en/latest/rules/flow-keywords.html
 */

import type { RuleDraft } from "../draft.ts";
import type { FlowCondition } from "../rule.ts";
import type { FlowNumber, HostBit } from "../state-condition.ts";
import { lookUp } from "../text/look-up.ts";
import { parseNumber } from "../text/numbers.ts";
import { splitWords } from "../text/options.ts";
import type { Keyword } from "./keyword.ts";

/** Words of `flow` → what they set; a part that is set already is refused. */
const FLOW_WORDS: Readonly<Record<string, Partial<FlowCondition>>> = {
  to_server: { direction: "to-server" }, from_client: { direction: "to-server" }, to_client: { direction: "to-client" }, from_server: { direction: "to-client" },
  established: { state: "established" }, not_established: { state: "not-established" }, stateless: { state: "stateless" },
  only_stream: { stream: "only" }, no_stream: { stream: "none" }, only_frag: { fragments: "only" }, no_frag: { fragments: "none" },
};

const flow: Keyword = (draft, value) => {
  for (const word of splitWords(value.toLowerCase())) {
    const part = lookUp(FLOW_WORDS, word);
    if (!part) return `unknown word ${word}`;
    const isTaken = (part.direction && draft.flow.direction) ?? (part.state && draft.flow.state) ?? (part.stream && draft.flow.stream) ?? (part.fragments && draft.flow.fragments);
    if (isTaken) return `${word} contradicts another word, or repeats it`;
    Object.assign(draft.flow, part);
  }
  return null;
};

const BIT_OPERATIONS: Readonly<Record<string, HostBit["operation"]>> = { set: "set", unset: "unset", toggle: "toggle", isset: "is-set", isnotset: "is-not-set" };

function operationOf(text: string): HostBit["operation"] | undefined {
  return lookUp(BIT_OPERATIONS, text.toLowerCase());
}

const flowBits: Keyword = (draft, value) => {
  const [operationText = "", nameText = "", extra] = splitWords(value);
  if (operationText === "noalert") return nameText === "" ? setNoAlert(draft) : "noalert has no name";
  const operation = operationOf(operationText);
  const names = nameText.split("|").map((name) => name.trim());
  if (!operation) return `unknown operation ${operationText}`;
  if (names.includes("") || extra !== undefined || names.some((name) => /\s/.test(name))) return `cannot read the name ${nameText}`;
  if (names.length > 1 && operation !== "is-set" && operation !== "is-not-set") return `${operationText} has one name`;
  draft.states.push({ kind: "flow-bit", operation, names });
  return null;
};

function setNoAlert(draft: RuleDraft): null {
  draft.noAlert = true;
  return null;
}

const HOST_TRACKS: Readonly<Record<string, HostBit["track"]>> = {
  ip_src: "source", ip_dst: "destination", ip_pair: "pair", tx: "transaction", src: "source", dst: "destination", both: "both",
};

const xBits: Keyword = (draft, value) => {
  const [operationText = "", name = "", trackText = "", expireText, extra] = splitWords(value);
  if (operationText === "noalert") return setNoAlert(draft);
  const operation = operationOf(operationText);
  const track = lookUp(HOST_TRACKS, /^track\s+(ip_src|ip_dst|ip_pair|tx)$/.exec(trackText)?.[1] ?? "");
  const seconds = expireText === undefined ? 30 : parseNumber(/^expire\s+(\d+)$/.exec(expireText)?.[1] ?? "", 0xffff_ffff);
  if (!operation) return `unknown operation ${operationText}`;
  if (name === "" || !track || seconds === null || (expireText !== undefined && seconds === 0) || extra !== undefined) return `cannot read ${value}`;
  draft.states.push({ kind: "host-bit", operation, name, track, seconds: track === "transaction" ? 0 : seconds });
  return null;
};

const hostBits: Keyword = (draft, value) => {
  const [operationText = "", name = "", trackText = "src", expireText, extra] = splitWords(value);
  if (operationText === "noalert") return setNoAlert(draft);
  const operation = operationOf(operationText);
  const track = /^(?:src|dst|both)$/.test(trackText) ? HOST_TRACKS[trackText] : undefined;
  const seconds = expireText === undefined ? 300 : parseNumber(expireText, 0xffff_ffff);
  if (!operation) return `unknown operation ${operationText}`;
  if (name === "" || !track || seconds === null || extra !== undefined) return `cannot read ${value}`;
  draft.states.push({ kind: "host-bit", operation, name, track, seconds });
  return null;
};

const FLOW_NUMBER_OPERATIONS: Readonly<Record<string, FlowNumber["operation"]>> = {
  "+": "add", "-": "subtract", "=": "set", "==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "isset": "is-set", "notset": "is-not-set", "isnotset": "is-not-set",
};

const flowInt: Keyword = (draft, value) => {
  const [name = "", operationText = "", operand, extra] = splitWords(value);
  const operation = lookUp(FLOW_NUMBER_OPERATIONS, operationText);
  if (name === "" || !operation || extra !== undefined) return `cannot read ${value}`;
  const isQuestion = operation === "is-set" || operation === "is-not-set";
  if (isQuestion !== (operand === undefined) || operand === "") return isQuestion ? `${operationText} has no value` : "its value is missing";
  const number = operand !== undefined && /^\d/.test(operand) ? parseNumber(operand, 0xffff_ffff) : operand ?? null;
  if (number === null && !isQuestion) return `${operand ?? ""} is no value`;
  draft.states.push({ kind: "flow-number", name, operation, value: number });
  return null;
};

/** Keywords about flows and what is remembered. */
export const FLOW_KEYWORDS: Readonly<Record<string, Keyword>> = {
  flow, flowbits: flowBits, xbits: xBits, hostbits: hostBits, flowint: flowInt, noalert: setNoAlert,
  "alert": (draft) => {
    draft.noAlert = false;
    return null;
  },
};
