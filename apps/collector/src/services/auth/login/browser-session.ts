import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import type { GatewayEnvironment } from "../../../gateway/environment.ts";
import { ApiError } from "../../../gateway/errors.ts";

const COOKIE = "lanthorn_session";

/**
 * Has the browser keep the token of this request for its next pages. No script can read the cookie, no other site can have it sent, and
 * since it names no path, the browser sends it to `/auth/` of the API alone, below whatever path a proxy shows the collector.
 * @see RFC 6265 section 5.1.4, RFC 6265bis section 5.5
 */
export function keepInBrowser(c: Context<GatewayEnvironment>, lifetimeSeconds: number): void {
  const token = /^Bearer +(\S+) *$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
  c.header("set-cookie", cookieOf(c, token, lifetimeSeconds));
}

/** The token that the browser keeps; undefined where it keeps none. */
export function keptInBrowser(c: Context<GatewayEnvironment>): string | undefined {
  return getCookie(c, COOKIE);
}

/** Has a browser that keeps a token forget it. */
export function forgetInBrowser(c: Context<GatewayEnvironment>): void {
  if (keptInBrowser(c) !== undefined) c.header("set-cookie", cookieOf(c, "", 0));
}

/**
 * Refuses what a page of another origin has the browser send. A browser on plain HTTP does not say where a request is from; there the
 * cookie's SameSite, and CORS without credentials, keep others out.
 * @throws ApiError FORBIDDEN.
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function refuseOtherOrigins(c: Context<GatewayEnvironment>): void {
  const from = c.req.header("sec-fetch-site");
  if (from !== undefined && from !== "same-origin") throw new ApiError("FORBIDDEN", "this is for pages of this collector alone");
}

function cookieOf(c: Context<GatewayEnvironment>, value: string, seconds: number): string {
  // Behind a proxy that ends TLS, the browser's Origin says how it sees this collector.
  const isSecure = c.env.peer.secure || /^https:/i.test(c.req.header("origin") ?? "");
  return `${COOKIE}=${value}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}
