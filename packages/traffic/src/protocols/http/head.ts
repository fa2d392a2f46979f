/** The head of a request or a response. @see RFC 9112 sections 2 to 5 */
import { latin1 } from "../latin1.ts";

/** One field line. Names as they were sent; values without white space around, folded lines joined by a space. */
export interface HttpHeader {
  readonly name: string;
  readonly value: string;
}

/** What both heads have. */
export interface HttpFields {
  readonly headers: readonly HttpHeader[];
  /** More fields than the 200 that are listed. */
  readonly isCut: boolean;
  /** Credentials were there (Authorization, Proxy-Authorization, or in the target); their place is taken by asterisks, in `raw` too. */
  readonly hasCredentials: boolean;
  /** The head as it was sent, with the empty line that ends it. */
  readonly raw: Uint8Array;
}

/** The first line of a request, and its fields. */
export interface HttpRequestHead extends HttpFields {
  readonly method: string;
  /** As it was sent. */
  readonly target: string;
  /** `1.1`. */
  readonly version: string;
  /** Host of the target where it has one, else of the Host field; in lower case, without the port. Null without either. */
  readonly host: string | null;
}

/** The first line of a response, and its fields. */
export interface HttpResponseHead extends HttpFields {
  readonly version: string;
  readonly status: number;
  readonly reason: string;
}

const MAX_HEADERS = 200;
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40})[ \t]+(\S(?:.*\S)?)[ \t]+HTTP\/(\d\.\d)[ \t]*$/;
const STATUS_LINE = /^HTTP\/(\d\.\d)[ \t]+(\d{3})(?:[ \t](.*))?$/;
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(["authorization", "proxy-authorization"]);
const ASTERISK = 0x2a;

/** @returns Index behind the empty line that ends a head, or -1; `from` is where to go on searching, `lines` how many ends of lines were passed. */
export function findHeadEnd(bytes: Uint8Array, from: number): { readonly end: number; readonly from: number; readonly lines: number } {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a, from); at >= 0; at = bytes.indexOf(0x0a, at + 1)) {
    const next = bytes[at + 1];
    lines += 1;
    if (next === 0x0a) return { end: at + 2, from: 0, lines };
    if (next === 0x0d && bytes[at + 2] === 0x0a) return { end: at + 3, from: 0, lines };
    if (next === undefined || (next === 0x0d && at + 2 >= bytes.length)) return { end: -1, from: at, lines };
  }
  return { end: -1, from: bytes.length, lines };
}

/** @param bytes A whole head, without empty lines before. @returns null where it is none. */
export function parseRequestHead(bytes: Uint8Array): HttpRequestHead | null {
  const text = latin1(bytes);
  const [, method, sentTarget, version] = REQUEST_LINE.exec(firstLine(text)) ?? [];
  if (method === undefined || sentTarget === undefined || version === undefined) return null;
  const { fields, masked } = parseFields(text, bytes);
  const targetAt = text.indexOf(sentTarget, method.length);
  const user = /^[a-z][a-z0-9+.-]*:\/\/([^/?#@\s]*)@/i.exec(sentTarget);
  const secret = user?.[1] ?? "";
  const raw = secret === "" ? masked : mask(masked, bytes, targetAt + sentTarget.indexOf(secret), secret.length);
  const target = secret === "" ? sentTarget : sentTarget.replace(secret, "*".repeat(secret.length));
  return { method, target, version, host: hostOf(method, target, fields.headers), ...fields, hasCredentials: raw !== bytes, raw };
}

/** @param bytes A whole head. @returns null where it is none. */
export function parseResponseHead(bytes: Uint8Array): HttpResponseHead | null {
  const text = latin1(bytes);
  const [, version, status, reason = ""] = STATUS_LINE.exec(firstLine(text)) ?? [];
  if (version === undefined || status === undefined) return null;
  const { fields, masked } = parseFields(text, bytes);
  return { version, status: Number(status), reason, ...fields, hasCredentials: masked !== bytes, raw: masked };
}

/** @returns All values of a field, by its name in lower case. */
export function valuesOf(headers: readonly HttpHeader[], name: string): readonly string[] {
  return headers.filter((header) => header.name.length === name.length && header.name.toLowerCase() === name).map(({ value }) => value);
}

function firstLine(text: string): string {
  const end = text.indexOf("\n");
  return text.slice(0, text[end - 1] === "\r" ? end - 1 : end);
}

/** The lines behind the first. `masked` is `bytes` itself where there was no credential. */
function parseFields(text: string, bytes: Uint8Array): { readonly fields: Pick<HttpFields, "headers" | "isCut">; readonly masked: Uint8Array } {
  const headers: { name: string; value: string }[] = [];
  let masked = bytes;
  let isCut = false;
  let isSecret = false;
  for (let start = text.indexOf("\n") + 1, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf("\n", start);
    if (end < 0) break;
    const line = text.slice(start, text[end - 1] === "\r" ? end - 1 : end);
    const last = headers.at(-1);
    const isFolded = (line[0] === " " || line[0] === "\t") && last !== undefined;
    const colon = isFolded ? -1 : line.indexOf(":");
    if (!isFolded && colon < 1) continue;
    const name = isFolded ? last.name : line.slice(0, colon).trimEnd();
    const sent = line.slice(colon + 1).trim();
    if (!isFolded) isSecret = CREDENTIAL_HEADERS.has(name.toLowerCase());
    const visible = isSecret && !isFolded ? schemeLength(sent) : 0;
    if (isSecret && sent.length > visible) masked = mask(masked, bytes, start + line.indexOf(sent, colon + 1) + visible, sent.length - visible);
    const value = isSecret ? sent.slice(0, visible) + "*".repeat(sent.length - visible) : sent;
    if (isFolded) last.value += ` ${value}`;
    else if (headers.length < MAX_HEADERS) headers.push({ name, value });
    else isCut = true;
  }
  return { fields: { headers, isCut }, masked };
}

/** Length of `Basic `, which is no secret. */
function schemeLength(value: string): number {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32} +/.exec(value)?.[0].length ?? 0;
}

function mask(masked: Uint8Array, bytes: Uint8Array, at: number, length: number): Uint8Array {
  const copy = masked === bytes ? bytes.slice() : masked;
  return copy.fill(ASTERISK, at, at + length);
}

function hostOf(method: string, target: string, headers: readonly HttpHeader[]): string | null {
  const authority = method === "CONNECT" ? target : /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@\s]*@)?([^/?#]*)/i.exec(target)?.[1];
  const found = authority ?? valuesOf(headers, "host")[0];
  return found === undefined ? null : found.toLowerCase().replace(/:\d*$/, "");
}
