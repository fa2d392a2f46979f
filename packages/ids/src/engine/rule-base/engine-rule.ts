/** A rule as the engine runs it. */

import type { Direction } from "../../applications/application.ts";
import { BUFFER_FACTS } from "../../rules/buffer-names.ts";
import type { Condition } from "../../rules/condition.ts";
import type { BufferMatch } from "../../rules/buffer-match.ts";
import type { AddressSet } from "../../rules/address-set.ts";
import type { BufferGroup, Rule } from "../../rules/rule.ts";

/**
 * When a rule is looked at: `address` for a flow's first packet each way; `packet` and `stream` for payloads and chunks of a stream;
 * `application` for packets once the protocol is known, `recognition` for the first of them each way; `transaction` for what its parser says.
 */
export type RuleKind = "address" | "recognition" | "packet" | "stream" | "packet-and-stream" | "application" | "transaction";

/** Numbers of packets and flows; all others are a transaction's. */
const PACKET_NUMBERS = /^(?:dsize$|ip\.|tcp\.|icmp\.|icmpv6\.|vlan\.|flow\.)/;

/** A rule with what the engine wants to know of it each time. */
export class EngineRule {
  readonly rule: Rule;
  readonly kind: RuleKind;
  /** Unique among rules, also of the base before. */
  readonly key: number;
  /** Conditions of packets and flows, and of transactions. */
  readonly packetConditions: readonly Condition[];
  readonly transactionConditions: readonly Condition[];
  /** It asks that something is not there, in bytes that may go on: it waits for their end. */
  readonly isNegative: boolean;
  /** It counts from the beginning of the payload: of a whole chunk. */
  readonly isPlaced: boolean;

  constructor(rule: Rule) {
    this.rule = rule;
    this.kind = kindOf(rule);
    this.key = rule.gid * 0x1_0000_0000 + rule.id;
    this.packetConditions = chosen(rule.conditions, (condition) => !isOfTransaction(condition));
    this.transactionConditions = chosen(rule.conditions, isOfTransaction);
    this.isNegative = rule.buffers.some(isNegative);
    this.isPlaced = rule.buffers.some((group) => group.buffer === "payload" && group.matches.some(countsFromBegin));
  }

  /** Whether it may match in a direction at all. */
  isFor(direction: Direction): boolean {
    return this.rule.flow.direction === null || this.rule.flow.direction === direction;
  }
}

const NO_CONDITIONS: readonly Condition[] = [];

function chosen(conditions: readonly Condition[], isChosen: (condition: Condition) => boolean): readonly Condition[] {
  return conditions.some(isChosen) ? conditions.filter(isChosen) : NO_CONDITIONS;
}

/** @returns Whether a group is of what a parser fills. */
export function isOfApplication({ buffer }: BufferGroup): boolean {
  return buffer !== "base64_data" && (BUFFER_FACTS.get(buffer)?.applications.length ?? 0) > 0;
}

function isOfTransaction(condition: Condition): boolean {
  switch (condition.kind) {
    case "number":
      return !PACKET_NUMBERS.test(condition.field);
    case "word":
    case "tls-time":
      return true;
    case "fact":
      return condition.fact !== "same-ip";
    case "event":
      return condition.layer === "application";
    case "tcp-flags":
    case "fragment-bits":
    case "ip-option":
    case "vlan-id":
    case "stream-size":
    case "application":
      return false;
    default:
      return condition satisfies never;
  }
}

function kindOf(rule: Rule): RuleKind {
  if (rule.buffers.some(isOfApplication) || rule.conditions.some(isOfTransaction)) return "transaction";
  const hasBytes = rule.buffers.length > 0;
  if (!hasBytes && rule.conditions.length === 0 && rule.protocol.applications !== null) return "application";
  if (isAboutAddresses(rule)) return "address";
  if (!hasBytes && rule.conditions.length > 0 && rule.conditions.every(({ kind }) => kind === "application")) return "recognition";
  const isTcp = rule.protocol.numbers?.includes(TCP) ?? true;
  if (!isTcp || rule.protocol.scope === "packet" || rule.flow.stream === "none" || asksForPacket(rule)) return "packet";
  if (rule.protocol.scope === "stream" || rule.flow.stream === "only") return hasBytes ? "stream" : "packet";
  if (!hasBytes) return "packet";
  return rule.buffers.some((group) => group.matches.some((match) => match.kind === "content" && hasPlace(match))) ? "packet-and-stream" : "stream";
}

const TCP = 6;

function countsFromBegin(match: BufferMatch): boolean {
  if (match.kind === "content") return hasPlace(match);
  if (match.kind === "pcre") return !match.isRelative && (match.flags.anchored || match.source.startsWith("^"));
  return "isRelative" in match && !match.isRelative;
}

/** Nothing but addresses, ports and protocol: Suricata looks at such a rule once for each flow and direction, unless an address is negated. */
function isAboutAddresses({ buffers, conditions, flow, states, protocol, source, destination, detectionFilter }: Rule): boolean {
  const asksFlow = flow.direction !== null || flow.state !== null || flow.stream !== null || flow.fragments !== null;
  const isPlain = conditions.every((condition) => condition.kind === "number" && condition.field === "ip.protocol") && states.every(({ kind, operation }) => kind === "flow-bit" && operation === "set");
  return buffers.length === 0 && isPlain && protocol.applications === null && protocol.scope === "any" && !asksFlow && !isNegated(source.addresses) && !isNegated(destination.addresses)
    && detectionFilter === null;
}

/** All but some: the set does not say how it was written. */
function isNegated({ isAny, ipv4 }: AddressSet): boolean {
  return !isAny && ipv4[0] === 0 && ipv4.at(-1) === 0xffff_ffff;
}

function asksForPacket({ buffers, conditions }: Rule): boolean {
  return conditions.some(({ kind }) => kind !== "application") || buffers.some(({ buffer }) => buffer !== "payload" && buffer !== "base64_data");
}

function hasPlace({ offset, depth }: { readonly offset: unknown; readonly depth: unknown }): boolean {
  return offset !== null || depth !== null;
}

function isNegative({ matches }: BufferGroup): boolean {
  return matches.some((match) => ("isNegated" in match && match.isNegated) || match.kind === "size" || match.kind === "absent" || (match.kind === "content" && match.endsWith));
}
