/** How the body behind a head ends. @see RFC 9112 section 6 */
import { lowerByte } from "../bytes.ts";
import { type HttpFields, valuesOf } from "../head/fields.ts";

/** Nothing, so many bytes, chunks, or all until the connection closes. */
export type Framing = { readonly kind: "chunked" | "close" | "none" } | { readonly kind: "length"; readonly octets: number };

/** How a body ends, and what is wrong with that. */
export interface FramingVerdict {
  /** `null` where the sender's fields cannot be made sense of: nothing of this side is read any more. */
  readonly framing: Framing | null;
  readonly faults: readonly string[];
}

const NONE: Framing = { kind: "none" };

/** @returns What follows the head of a request. */
export function framingOfRequest(fields: HttpFields): FramingVerdict {
  const codings = valuesOf(fields, "transfer-encoding");
  if (codings.length > 0) {
    if (!codings.some((value) => includesWord(value, "chunked"))) return { framing: null, faults: ["invalid_transfer_encoding_value_in_request"] };
    return { framing: { kind: "chunked" }, faults: [] };
  }
  return framingByLength(fields, "request") ?? { framing: NONE, faults: [] };
}

/** What of a response decides how its body ends. */
export interface ResponseFacts {
  readonly fields: HttpFields;
  /** 0 where it is none. */
  readonly status: number;
  readonly isToHead: boolean;
  /** Before HTTP/1.1. */
  readonly isOld: boolean;
}

/** Chunks and a length are believed whatever the status is. */
export function framingOfResponse({ fields, status, isToHead, isOld }: ResponseFacts): FramingVerdict {
  if (isToHead) return { framing: NONE, faults: [] };
  const codings = valuesOf(fields, "transfer-encoding");
  if (codings.some((value) => includesWord(value, "chunked"))) {
    const isAbnormal = !(codings.length === 1 && isWord(codings[0] as Uint8Array, "chunked"));
    return { framing: { kind: "chunked" }, faults: [...(isAbnormal ? ["response_abnormal_transfer_encoding"] : []), ...(isOld ? ["response_chunked_old_proto"] : [])] };
  }
  const byLength = framingByLength(fields, "response");
  if (byLength) return byLength;
  const hasNone = (status >= 100 && status < 200) || status === 204 || status === 304;
  return { framing: hasNone ? NONE : { kind: "close" }, faults: [] };
}

/** The first of several lengths counts. */
function framingByLength(fields: HttpFields, of: "request" | "response"): FramingVerdict | null {
  const values = valuesOf(fields, "content-length");
  if (values.length === 0) return null;
  const first = readLength(values[0] as Uint8Array);
  if (first < 0) return { framing: null, faults: [`invalid_content_length_field_in_${of}`] };
  const faults = values.length > 1 && values.some((value) => readLength(value) !== first) ? [`duplicate_content_length_field_in_${of}`] : [];
  return { framing: first === 0 ? NONE : { kind: "length", octets: first }, faults };
}

const MAX_LENGTH = 2 ** 48;

/** @returns The first number, whatever is around it; -1 without one. */
function readLength(value: Uint8Array): number {
  let length = -1;
  for (const byte of value) {
    if (byte >= 0x30 && byte <= 0x39) length = Math.max(length, 0) * 10 + byte - 0x30;
    else if (length >= 0) break;
    if (length > MAX_LENGTH) return -1;
  }
  return length;
}

/** @param word In lower case. @returns Whether it is somewhere in `value`, between zero bytes too. */
export function includesWord(value: Uint8Array, word: string): boolean {
  for (let from = 0; from < value.length; from += 1) if (lengthOfWord(value, from, word) > 0) return true;
  return false;
}

function isWord(value: Uint8Array, word: string): boolean {
  return value.length === word.length && lengthOfWord(value, 0, word) === word.length;
}

function lengthOfWord(value: Uint8Array, from: number, word: string): number {
  let at = from;
  for (let index = 0; index < word.length; at += 1) {
    const byte = value[at];
    if (byte === undefined) return 0;
    if (byte === 0 && index > 0) continue;
    if (lowerByte(byte) !== word.charCodeAt(index)) return 0;
    index += 1;
  }
  return at - from;
}
