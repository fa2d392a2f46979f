/** How the body behind a head ends. @see RFC 9112 section 6 */
import { type HttpHeader, type HttpRequestHead, type HttpResponseHead, valuesOf } from "./head.ts";

/** Nothing, so many bytes, chunks, or all until the connection closes. */
export type HttpFraming = { readonly kind: "chunked" | "close" | "none" } | { readonly kind: "length"; readonly octets: number };

const NONE: HttpFraming = { kind: "none" };

/** @returns What follows the head of a request. */
export function framingOfRequest({ headers }: HttpRequestHead): HttpFraming {
  if (isChunked(headers)) return { kind: "chunked" };
  return framingByLength(headers) ?? NONE;
}

/** @param method Of the request that it answers; null where that is not known. */
export function framingOfResponse({ headers, status }: HttpResponseHead, method: string | null): HttpFraming {
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return NONE;
  if (isChunked(headers)) return { kind: "chunked" };
  if (valuesOf(headers, "transfer-encoding").length > 0) return { kind: "close" };
  return framingByLength(headers) ?? { kind: "close" };
}

function isChunked(headers: readonly HttpHeader[]): boolean {
  return /(?:^|,)[ \t]*chunked[ \t]*$/i.test(valuesOf(headers, "transfer-encoding").at(-1) ?? "");
}

/** The first value counts, as most servers have it; another one after it is smuggling. */
function framingByLength(headers: readonly HttpHeader[]): HttpFraming | null {
  const [value] = valuesOf(headers, "content-length");
  const digits = value === undefined ? undefined : /^(\d{1,15})(?:[ \t]*,.*)?$/.exec(value)?.[1];
  if (digits === undefined) return null;
  return digits === "0" ? NONE : { kind: "length", octets: Number(digits) };
}
