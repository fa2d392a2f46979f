/**
 * Keywords about headers of packets.
 * @see https://docs.suricata.io/en/latest/rules/header-keywords.html
 */

import type { FragmentBitsCondition, IpOptionCondition, TcpFlagsCondition, VlanCondition } from "../condition.ts";
import type { RuleDraft } from "../draft.ts";
import { parseNumberTest } from "../text/numbers.ts";
import { splitWords } from "../text/options.ts";
import type { Keyword } from "./keyword.ts";

const TCP_FLAGS: Readonly<Record<string, number>> = { F: 1, S: 2, R: 4, P: 8, A: 16, U: 32, E: 64, C: 128, "1": 128, "2": 64, "0": 0 };
const FRAGMENT_BITS: Readonly<Record<string, number>> = { M: 1, D: 2, R: 4 };
const OPERATORS: Readonly<Record<string, TcpFlagsCondition["operator"]>> = { "+": "all", "*": "any", "!": "not" };

/** @returns The sum of the letters' bits, or `null` for a letter that has none. */
function bitsOf(letters: string, table: Readonly<Record<string, number>>): number | null {
  let bits = 0;
  for (const letter of letters.toUpperCase()) {
    if (!Object.hasOwn(table, letter)) return null;
    bits |= table[letter] ?? 0;
  }
  return letters === "" ? null : bits;
}

/** The operator may stand before the letters or behind them. */
function readBits(text: string, table: Readonly<Record<string, number>>): { readonly operator: TcpFlagsCondition["operator"]; readonly bits: number } | null {
  const operator = OPERATORS[text.charAt(0)] ?? OPERATORS[text.charAt(text.length - 1)];
  const bits = bitsOf(operator === undefined ? text : text.replace(/^[+*!]|[+*!]$/, ""), table);
  return bits === null ? null : { operator: operator ?? "exactly", bits };
}

const flags: Keyword = (draft, value) => {
  const [text = "", ignoredText, extra] = splitWords(value);
  const read = readBits(text, TCP_FLAGS);
  const ignored = ignoredText === undefined ? 0 : bitsOf(ignoredText, TCP_FLAGS);
  if (!read || ignored === null || extra !== undefined) return `cannot read ${value}`;
  draft.conditions.push({ kind: "tcp-flags", ...read, ignored });
  return null;
};

const fragmentBits: Keyword = (draft, value) => {
  const read: Omit<FragmentBitsCondition, "kind"> | null = readBits(value, FRAGMENT_BITS);
  if (!read) return `cannot read ${value}`;
  draft.conditions.push({ kind: "fragment-bits", ...read });
  return null;
};

const IP_OPTIONS: ReadonlySet<string> = new Set(["rr", "lsrr", "eol", "nop", "ts", "sec", "esec", "ssrr", "satid", "any"]);

function isIpOption(text: string): text is IpOptionCondition["option"] {
  return IP_OPTIONS.has(text);
}

const ipOptions: Keyword = (draft, value) => {
  if (!isIpOption(value)) return `unknown option ${value}`;
  draft.conditions.push({ kind: "ip-option", option: value });
  return null;
};

/** Assigned numbers that rules name; https://www.iana.org/assignments/protocol-numbers. */
const IP_PROTOCOLS: Readonly<Record<string, number>> = {
  hopopt: 0, icmp: 1, igmp: 2, ipip: 4, tcp: 6, egp: 8, igp: 9, udp: 17, dccp: 33, ipv6: 41, rsvp: 46, gre: 47, esp: 50, ah: 51, "ipv6-icmp": 58, icmpv6: 58, eigrp: 88, ospf: 89,
  pim: 103, vrrp: 112, l2tp: 115, sctp: 132,
};

const ipProtocol: Keyword = (draft, value) => {
  const test = parseNumberTest(value, 8, IP_PROTOCOLS);
  if (!test) return `cannot read ${value}`;
  draft.conditions.push({ kind: "number", field: "ip.protocol", test });
  return null;
};

const sameIp: Keyword = (draft) => {
  draft.conditions.push({ kind: "fact", fact: "same-ip", isNegated: false });
  return null;
};

const vlanId: Keyword = (draft, value) => {
  const [text = "", layerText = "any", extra] = splitWords(value);
  const test = parseNumberTest(text, 16);
  const layer: VlanCondition["layer"] | null = layerText === "any" || layerText === "all" ? layerText : /^(?:[0-2]|-[1-3])$/.test(layerText) ? Number(layerText) : null;
  if (!test || layer === null || extra !== undefined) return `cannot read ${value}`;
  draft.conditions.push({ kind: "vlan-id", layer, test });
  return null;
};

const STREAM_OPERATORS: ReadonlySet<string> = new Set(["=", "!=", "<", "<=", ">", ">="]);

const streamSize: Keyword = (draft: RuleDraft, value) => {
  const [side = "", operator = "", number = "", extra] = splitWords(value);
  const test = STREAM_OPERATORS.has(operator) ? parseNumberTest(`${operator}${number}`, 32) : null;
  const isSide = side === "server" || side === "client" || side === "both" || side === "either";
  if (!isSide || !test || !("value" in test) || test.operator === "mask" || test.operator === "not-mask" || extra !== undefined) return `cannot read ${value}`;
  draft.conditions.push({ kind: "stream-size", side, operator: test.operator, value: test.value });
  return null;
};

/** Keywords of packets that are more than a number. */
export const PACKET_KEYWORDS: Readonly<Record<string, Keyword>> = {
  flags, "tcp.flags": flags, fragbits: fragmentBits, ipopts: ipOptions, ip_proto: ipProtocol, sameip: sameIp, "vlan.id": vlanId, stream_size: streamSize,
};
