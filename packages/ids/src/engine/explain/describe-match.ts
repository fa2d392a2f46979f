/** What rules ask for, in the words of their language, for people who look for what did not match. */

import type { Amount, BufferMatch, Content, Pcre, Value } from "../../rules/buffer-match.ts";
import type { Condition, NumberTest } from "../../rules/condition.ts";
import type { StateCondition } from "../../rules/state-condition.ts";
import type { Transform } from "../../rules/transform.ts";

/** @returns One keyword with its modifiers, as `content:!"GET |0d 0a|", nocase, depth 4`. */
export function describeMatch(match: BufferMatch): string {
  switch (match.kind) {
    case "content":
      return describeContent(match);
    case "pcre":
      return describePcre(match);
    case "byte-test":
      return `byte_test:${amount(match.count)},${match.isNegated ? "!" : ""}${match.operator},${value(match.value)},${amount(match.offset)}${match.isRelative ? ",relative" : ""}`;
    case "byte-jump":
      return `byte_jump:${amount(match.count)},${amount(match.offset)}${match.isRelative ? ",relative" : ""}`;
    case "byte-extract":
      return `byte_extract:${match.count},${amount(match.offset)}${match.isRelative ? ",relative" : ""}`;
    case "byte-math":
      return `byte_math:bytes ${amount(match.count)}, offset ${amount(match.offset)}, oper ${match.operator}, rvalue ${value(match.value)}${match.isRelative ? ", relative" : ""}`;
    case "is-data-at":
      return `isdataat:${match.isNegated ? "!" : ""}${amount(match.at)}${match.isRelative ? ",relative" : ""}`;
    case "size":
      return `bsize:${describeTest(match.test)}`;
    case "base64-decode":
      return `base64_decode:bytes ${match.bytes}, offset ${match.offset}${match.isRelative ? ", relative" : ""}`;
    case "absent":
      return match.orElse ? "absent:or_else" : "absent";
    case "entropy":
      return `entropy:value ${match.operator} ${match.value}`;
    case "dataset":
      return `dataset:${match.operation.replaceAll("is-", "is").replaceAll("-", "")},${match.name}`;
    default:
      return match satisfies never;
  }
}

function describeContent({ bytes, isNegated, ignoreCase, offset, depth, distance, within, endsWith }: Content): string {
  const isFirst = offset === 0 && depth === bytes.length;
  const places = isFirst ? ["startswith"] : Object.entries<Amount | null>({ offset, depth, distance, within })
    .flatMap(([name, at]) => (at === null ? [] : [`${name} ${amount(at)}`]));
  return [`content:${isNegated ? "!" : ""}"${contentText(bytes)}"`, ...(ignoreCase ? ["nocase"] : []), ...places, ...(endsWith ? ["endswith"] : [])].join(", ");
}

/** Letters as they are, all else in hexadecimal digits between bars, as rules write it. */
function contentText(bytes: Uint8Array): string {
  let text = "";
  let isHex = false;
  for (const byte of bytes.subarray(0, MAX_CONTENT_BYTES)) {
    const isPlain = byte >= 0x20 && byte < 0x7f && !'";|:\\'.includes(String.fromCodePoint(byte));
    if (isPlain === isHex) text += "|";
    else if (isHex) text += " ";
    text += isPlain ? String.fromCodePoint(byte) : byte.toString(16).padStart(2, "0");
    isHex = !isPlain;
  }
  return `${text}${isHex ? "|" : ""}${bytes.length > MAX_CONTENT_BYTES ? "…" : ""}`;
}

const MAX_CONTENT_BYTES = 128;
const MAX_EXPRESSION = 512;

function describePcre({ source, isNegated, isRelative, flags }: Pcre): string {
  const letters = [
    [flags.ignoreCase, "i"], [flags.dotAll, "s"], [flags.multiline, "m"], [flags.extended, "x"], [flags.anchored, "A"], [flags.dollarEndOnly, "E"], [flags.ungreedy, "G"], [isRelative, "R"],
  ] as const;
  return `pcre:${isNegated ? "!" : ""}"/${source.slice(0, MAX_EXPRESSION)}/${letters.map(([isOn, letter]) => (isOn ? letter : "")).join("")}"`;
}

function amount(of: Amount): string {
  return typeof of === "number" ? String(of) : "variable";
}

function value(of: Value): string {
  return typeof of === "bigint" ? String(of) : "variable";
}

/** @returns A fact that must hold, as `dsize > 100`. */
export function describeCondition(condition: Condition): string {
  switch (condition.kind) {
    case "number":
      return `${condition.field} ${describeTest(condition.test)}`;
    case "tcp-flags":
      return `flags (${condition.operator}) 0x${condition.bits.toString(16)}`;
    case "fragment-bits":
      return `fragbits (${condition.operator}) 0x${condition.bits.toString(16)}`;
    case "ip-option":
      return `ipopts:${condition.option}`;
    case "vlan-id":
      return `vlan.id ${describeTest(condition.test)}`;
    case "stream-size":
      return `stream_size:${condition.side},${condition.operator},${condition.value}`;
    case "event":
      return `event ${condition.event}`;
    case "application":
      return `app-layer-protocol:${condition.isNegated ? "!" : ""}${condition.application}`;
    case "word":
      return `${condition.field}:${condition.isNegated ? "!" : ""}${condition.words.join(",")}`;
    case "tls-time":
      return `tls certificate ${condition.field} ${describeTest(condition.test)}`;
    case "fact":
      return `${condition.isNegated ? "not " : ""}${condition.fact}`;
    default:
      return condition satisfies never;
  }
}

function describeTest(test: NumberTest): string {
  if ("low" in test) return `${test.operator} ${test.low} and ${test.high}`;
  return "mask" in test ? `${test.operator} 0x${test.mask.toString(16)} is ${test.value}` : `${test.operator} ${test.value}`;
}

/** @returns What a rule asks of what is remembered, as `flowbits:isset,a|b`. */
export function describeState(state: StateCondition): string {
  const operation = state.operation.replace("is-not-set", "isnotset").replace("is-set", "isset");
  if (state.kind === "flow-bit") return `flowbits:${operation},${state.names.join("|")}`;
  if (state.kind === "host-bit") return `xbits:${operation},${state.name},track ${state.track}`;
  return `flowint:${state.name},${operation}${state.value === null ? "" : `,${state.value}`}`;
}

/** @returns The transforms of a buffer, as ` with to-lowercase`; empty for none. */
export function describeTransforms(transforms: readonly Transform[]): string {
  return transforms.length === 0 ? "" : ` with ${transforms.map(({ kind }) => kind).join(", ")}`;
}
