/** First lines of messages, as libhtp reads them. @see RFC 9112 sections 3 and 4 */
import { isSpace, latin1 } from "../bytes.ts";

/** Parts of a request line; views. */
export interface RequestLine {
  readonly method: Uint8Array;
  readonly target: Uint8Array;
  /** All that follows the target; empty without one. */
  readonly protocol: Uint8Array;
  readonly faults: readonly ("method_delim_non_compliant" | "uri_delim_non_compliant")[];
}

/** Parts of a status line; views. */
export interface StatusLine {
  readonly protocol: Uint8Array;
  readonly status: Uint8Array;
  readonly reason: Uint8Array;
}

const SPACE = 0x20;

/** @param line Without its end. */
export function readRequestLine(line: Uint8Array): RequestLine {
  const faults: RequestLine["faults"][number][] = [];
  const methodFrom = skipSpace(line, 0);
  const methodTo = findSpace(line, methodFrom);
  if (methodTo < line.length && line[methodTo] !== SPACE) faults.push("method_delim_non_compliant");
  const targetFrom = skipSpace(line, methodTo);
  let targetTo = targetFrom;
  let hasOther = false;
  while (targetTo < line.length && line[targetTo] !== SPACE) {
    hasOther ||= isSpace(line[targetTo]);
    targetTo += 1;
  }
  // White space of other kinds ends the target where there is no space at all.
  if (hasOther) faults.push("uri_delim_non_compliant");
  if (hasOther && targetTo === line.length) targetTo = findSpace(line, targetFrom);
  return { method: line.subarray(methodFrom, methodTo), target: line.subarray(targetFrom, targetTo), protocol: line.subarray(skipSpace(line, targetTo)), faults };
}

/** @param line Without its end. */
export function readStatusLine(line: Uint8Array): StatusLine {
  const protocolFrom = skipSpace(line, 0);
  const protocolTo = findSpace(line, protocolFrom);
  const statusFrom = skipSpace(line, protocolTo);
  const statusTo = findSpace(line, statusFrom);
  return { protocol: line.subarray(protocolFrom, protocolTo), status: line.subarray(statusFrom, statusTo), reason: line.subarray(skipSpace(line, statusTo)) };
}

function skipSpace(line: Uint8Array, from: number): number {
  let at = from;
  while (at < line.length && isSpace(line[at])) at += 1;
  return at;
}

function findSpace(line: Uint8Array, from: number): number {
  let at = from;
  while (at < line.length && !isSpace(line[at])) at += 1;
  return at;
}

const METHOD_LIST =
  ("HEAD GET PUT POST DELETE CONNECT OPTIONS TRACE PATCH PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK VERSION-CONTROL CHECKOUT UNCHECKOUT CHECKIN UPDATE LABEL REPORT "
    + "MKWORKSPACE MKACTIVITY BASELINE-CONTROL MERGE").split(" ");
const METHODS: ReadonlySet<string> = new Set(METHOD_LIST);
const MAX_METHOD_BYTES = 16;

/** @param mayBeCut What there is of one will do. */
export function isKnownMethod(word: string, mayBeCut: boolean): boolean {
  return METHODS.has(word) || (mayBeCut && METHOD_LIST.some((known) => known.startsWith(word)));
}

/** @returns Whether a request may begin at `from`: a method that is known, or what there is of one. */
export function mayBeginRequest(bytes: Uint8Array, from: number): boolean {
  let to = from;
  while (to < bytes.length && to - from <= MAX_METHOD_BYTES && !isSpace(bytes[to])) to += 1;
  return isKnownMethod(latin1(bytes.subarray(from, to)), to === bytes.length);
}

const PROTOCOL = [0x68, 0x74, 0x74, 0x70];

/** @returns Whether a status line may begin at `from`, behind white space and zero bytes: HTTP, or what there is of it, but not white space alone. */
export function mayBeginResponse(bytes: Uint8Array, from = 0, to = bytes.length): boolean {
  let at = from;
  while (at < to && (isSpace(bytes[at]) || bytes[at] === 0)) at += 1;
  return (at < to || at === from) && PROTOCOL.every((letter, index) => at + index >= to || ((bytes[at + index] as number) | 0x20) === letter);
}
