import { createMiddleware } from "hono/factory";
import type { GatewayEnvironment } from "../environment.ts";

const METHODS = "GET, POST, PUT, DELETE";
const ALLOWED = "authorization, content-type, idempotency-key, if-match, if-none-match, x-api-key";
const EXPOSED = "etag, idempotency-replayed, location, retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, "
  + "x-request-id";
/** Browsers keep an answer no longer than two hours (Chromium). */
const KEEP_SECONDS = 7200;

/** Whether a request asks what another origin may send, instead of sending it. Such a one carries no credentials. */
export function isPreflight(request: Request): boolean {
  return request.method === "OPTIONS" && request.headers.has("origin") && request.headers.has("access-control-request-method");
}

/**
 * Lets pages of these origins read the answers, also those that are refusals. Credentials are sent in headers by scripts,
 * never by the browser itself, so that `*` gives nothing away that a page does not have already.
 * @param origins Scheme, host and port each, or `*` for all; empty for none.
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function allowOrigins(origins: readonly string[]) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    const origin = c.req.header("origin");
    if (origins.length > 0) c.header("vary", "origin");
    const isAllowed = origin !== undefined && (origins.includes("*") || origins.includes(origin));
    if (isAllowed) {
      c.header("access-control-allow-origin", origins.includes("*") ? "*" : origin);
      c.header("access-control-expose-headers", EXPOSED);
      c.header("cross-origin-resource-policy", "cross-origin");
    }
    await next();
  });
}

/** Answers preflights, after they were counted; what is not allowed gets no permission, which is the browser's refusal. */
export function answerPreflight(origins: readonly string[]) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    if (origins.length === 0 || !isPreflight(c.req.raw)) {
      await next();
      return undefined;
    }
    if (c.res.headers.has("access-control-allow-origin")) {
      c.header("access-control-allow-methods", METHODS);
      c.header("access-control-allow-headers", ALLOWED);
      c.header("access-control-max-age", String(KEEP_SECONDS));
    }
    return c.body(null, 204);
  });
}
