/** A rule taken apart, so that each part of it can be tried with those before it. */

import type { BufferMatch, Pcre } from "../../rules/buffer-match.ts";
import type { BufferGroup, FlowCondition, Rule, RuleEnd } from "../../rules/rule.ts";
import type { StateCondition } from "../../rules/state-condition.ts";
import { describeCondition, describeMatch, describeState, describeTransforms } from "./describe-match.ts";

/** What a part is about. `buffer` asks only that the buffer is there. */
export type RulePartKind =
  | "protocol" | "application" | "addresses" | "ports" | "direction" | "flow" | "condition" | "buffer" | "content" | "pcre" | "bytes" | "bits" | "threshold";

/** One thing that a rule asks for. */
export interface RulePart {
  readonly kind: RulePartKind;
  /** In the language of rules. */
  readonly text: string;
  /** Empty for parts that are about no buffer. */
  readonly buffer: string;
  /** Asks for it too. */
  readonly apply: (rule: Rule) => Rule;
  /** It can be left out alone: what is behind it does not count from it. */
  readonly isApart: boolean;
}

const ANY: RuleEnd = { addresses: { isAny: true, ipv4: [], ipv6: [] }, ports: { isAny: true, ranges: [] } };
const ANY_FLOW: FlowCondition = { direction: null, state: null, stream: null, fragments: null };
const CHANGES: ReadonlySet<string> = new Set(["set", "unset", "toggle", "add", "subtract"]);

/** @returns A rule that any packet matches, and that changes nothing. */
function loosened(rule: Rule): Rule {
  return {
    ...rule, action: "alert", source: ANY, destination: ANY, isBidirectional: true, flow: ANY_FLOW, conditions: [], buffers: [], fastPattern: null, states: [], threshold: null,
    detectionFilter: null, tag: null, noAlert: false, protocol: { name: "ip", numbers: null, ipVersion: null, applications: null, scope: "any" },
  };
}

/** @returns A rule that asks for some parts alone. */
export function ruleWith(rule: Rule, parts: readonly RulePart[]): Rule {
  const made = parts.reduce((one, { apply }) => apply(one), loosened(rule));
  const decodes = made.buffers.some(({ matches }) => matches.some(({ kind }) => kind === "base64-decode"));
  // What is decoded is a buffer of its own, without which decoding is no match.
  if (!decodes || made.buffers.some(({ buffer }) => buffer === "base64_data")) return made;
  return { ...made, buffers: [...made.buffers, { buffer: "base64_data", transforms: [], matches: [] }] };
}

/**
 * @param header The words of its header, as it was written.
 * @returns What a rule asks for, in the order in which a person looks at it: header, flow, facts, bytes, what is remembered, thresholds.
 */
export function partsOf(rule: Rule, header: readonly string[]): readonly RulePart[] {
  const asked = [...headerParts(rule, header), ...flowParts(rule), ...factParts(rule), ...rule.buffers.flatMap((group) => bufferParts(rule, group)), ...bitParts(rule)];
  const rest = asked.slice(MAX_PARTS - 1);
  const [first] = rest;
  if (rest.length <= 1 || !first) return [...asked, ...limitParts(rule)];
  const together: RulePart = {
    kind: first.kind, text: `${first.text} and ${rest.length - 1} more`, buffer: first.buffer, isApart: false, apply: (one) => rest.reduce((made, { apply }) => apply(made), one),
  };
  return [...asked.slice(0, MAX_PARTS - 1), together, ...limitParts(rule)];
}

/** Emerging Threats' longest rules have some forty. Each is tried with all before it. */
const MAX_PARTS = 100;

function headerParts(rule: Rule, header: readonly string[]): readonly RulePart[] {
  const { protocol, source, destination } = rule;
  const [, name = protocol.name, from = "any", fromPorts = "any", arrow = "->", to = "any", toPorts = "any"] = header.map((word) => word.slice(0, MAX_HEADER_WORD));
  const parts: RulePart[] = [plain("protocol", name, (one) => ({ ...one, protocol: { ...protocol, applications: null } }))];
  if (protocol.applications !== null) parts.push(plain("application", protocol.applications.join(" or "), (one) => ({ ...one, protocol })));
  const withAddresses = (one: Rule): Rule => ({
    ...one, source: { ...one.source, addresses: source.addresses }, destination: { ...one.destination, addresses: destination.addresses },
  });
  const withPorts = (one: Rule): Rule => ({ ...one, source: { ...one.source, ports: source.ports }, destination: { ...one.destination, ports: destination.ports } });
  const [hasAddresses, hasPorts] = [!(source.addresses.isAny && destination.addresses.isAny), !(source.ports.isAny && destination.ports.isAny)];
  if (hasAddresses) parts.push(plain("addresses", `${from} ${arrow} ${to}`, withAddresses));
  if (hasPorts) parts.push(plain("ports", `${fromPorts} ${arrow} ${toPorts}`, withPorts));
  if ((hasAddresses || hasPorts) && !rule.isBidirectional) parts.push(plain("direction", `${from} ${fromPorts} ${arrow} ${to} ${toPorts}`, (one) => ({ ...one, isBidirectional: false })));
  return parts;
}

const MAX_HEADER_WORD = 200;

function flowParts({ flow: { direction, state, stream, fragments } }: Rule): readonly RulePart[] {
  const parts: RulePart[] = [];
  const add = (text: string, more: Partial<FlowCondition>) => void parts.push(plain("flow", text, (one) => ({ ...one, flow: { ...one.flow, ...more } })));
  if (direction !== null) add(direction === "to-server" ? "flow:to_server" : "flow:to_client", { direction });
  if (state !== null && state !== "stateless") add(`flow:${state.replace("-", "_")}`, { state });
  if (stream !== null) add(stream === "only" ? "flow:only_stream" : "flow:no_stream", { stream });
  if (fragments !== null) add(fragments === "only" ? "flow:only_frag" : "flow:no_frag", { fragments });
  return parts;
}

function factParts({ conditions }: Rule): readonly RulePart[] {
  return conditions.map((condition) => plain("condition", describeCondition(condition), (one) => ({ ...one, conditions: [...one.conditions, condition] })));
}

function bufferParts({ buffers }: Rule, group: BufferGroup): readonly RulePart[] {
  const place = buffers.indexOf(group);
  const name = `${group.buffer}${describeTransforms(group.transforms)}`;
  const put = (one: Rule, matches: readonly BufferMatch[]): Rule => ({ ...one, buffers: [...one.buffers.slice(0, place), { ...group, matches }, ...one.buffers.slice(place + 1)] });
  const parts: RulePart[] = [];
  const mayBeMissing = group.buffer === "base64_data" || group.matches.some(({ kind }) => kind === "absent");
  if (!mayBeMissing) parts.push({ kind: "buffer", text: name, buffer: name, isApart: false, apply: (one) => put(one, [ANYTHING]) });
  for (const [index, match] of group.matches.entries()) {
    parts.push({ kind: kindOf(match), text: describeMatch(match), buffer: name, isApart: false, apply: (one) => put(one, group.matches.slice(0, index + 1)) });
  }
  return parts;
}

/** Takes the beginning of whatever is there, so that it can be shown. */
const ANYTHING: Pcre = {
  kind: "pcre", source: "^.{0,256}", isNegated: false, isRelative: false, captures: [],
  flags: { ignoreCase: false, dotAll: true, multiline: false, extended: false, anchored: true, dollarEndOnly: false, ungreedy: false },
};

function kindOf({ kind }: BufferMatch): RulePartKind {
  return kind === "content" || kind === "pcre" ? kind : "bytes";
}

function bitParts({ states }: Rule): readonly RulePart[] {
  const asked: readonly StateCondition[] = states.filter(({ operation }) => !CHANGES.has(operation));
  return asked.map((state) => plain("bits", describeState(state), (one) => ({ ...one, states: [...one.states, state] })));
}

function limitParts({ threshold, detectionFilter }: Rule): readonly RulePart[] {
  const parts: RulePart[] = [];
  if (detectionFilter !== null) {
    const { track, count, seconds } = detectionFilter;
    parts.push(plain("threshold", `detection_filter:track ${track}, count ${count}, seconds ${seconds}`, (one) => ({ ...one, detectionFilter })));
  }
  if (threshold !== null) {
    const { kind, track, count, seconds } = threshold;
    parts.push(plain("threshold", `threshold:type ${kind}, track ${track}, count ${count}, seconds ${seconds}`, (one) => ({ ...one, threshold })));
  }
  return parts;
}

function plain(kind: RulePartKind, text: string, apply: RulePart["apply"]): RulePart {
  return { kind, text, buffer: "", apply, isApart: true };
}
