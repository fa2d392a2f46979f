import { createMiddleware } from "hono/factory";
import type { GatewayEnvironment } from "../gateway/environment.ts";
import { rateLimited } from "../gateway/errors.ts";
import { limitGroup } from "../gateway/http/address.ts";
import type { RateLimiter, Tier } from "../gateway/limits/rate-limit.ts";

/**
 * Counts requests for the page and its files by address: a page that is opened takes nothing from the requests that it then makes. A browser
 * that would show the refusal to a person gets it in words, and asks again when the page may be had.
 */
export function limitPages({ limiter, tier }: { readonly limiter: RateLimiter; readonly tier: Tier }) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    const { allowed, retryAfterMs } = await limiter.take(limitGroup(c.env.peer.address), tier);
    if (allowed) {
      await next();
      return undefined;
    }
    const refusal = rateLimited("too many requests", retryAfterMs);
    if (!c.req.header("accept")?.includes("text/html")) throw refusal;
    return c.html(inWords(Number(refusal.headers["retry-after"])), 429, refusal.headers);
  });
}

/** Without style or script, as the policy of what is no page demands. */
function inWords(seconds: number): string {
  const when = seconds === 1 ? "1 second" : `${seconds} seconds`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" /><meta name="color-scheme" content="light dark" />
<meta http-equiv="refresh" content="${seconds}" /><title>Lanthorn: too many requests</title></head>
<body><h1>Too many requests</h1>
<p>Your network address asked for more pages in a minute than the collector gives to one address. Others behind the same address count as well.</p>
<p>This page tries again by itself in ${when}.</p></body>
</html>
`;
}
