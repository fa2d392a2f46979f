import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { createMiddleware } from "hono/factory";
import type { GatewayEnvironment } from "../gateway/environment.ts";
import { notFound } from "../gateway/errors.ts";
import { takesCoding } from "../gateway/http/compress.ts";
import { createRouter } from "../gateway/route.ts";
import type { PageFile, PageFiles } from "./files.ts";

/**
 * Scripts and styles come from here alone, none is written into the page, and no text becomes HTML or a script; the address of the
 * map's worker alone is made by a policy of the page.
 * @see https://www.w3.org/TR/CSP3/ https://www.w3.org/TR/trusted-types/
 */
const PAGE_POLICY = [
  "default-src 'none'", "script-src 'self'", "worker-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'", "form-action 'none'",
  "frame-ancestors 'none'", "base-uri 'self'", "require-trusted-types-for 'script'", "trusted-types lanthorn-map",
].join("; ");

/** Names of files hold a hash of what is in them. */
const FOREVER = "public, max-age=31536000, immutable";

/**
 * The dashboard: its page at each of its own paths, and the page's files. To be mounted at the root, before what asks for credentials.
 * @param limit What counts requests by address, apart from those of the API.
 */
export function dashboardRoutes(
  files: PageFiles, limit: ReturnType<typeof createMiddleware<GatewayEnvironment>>,
): OpenAPIHono<GatewayEnvironment> {
  const router = createRouter();
  for (const path of files.paths) {
    const { text, etag } = files.index(path.split("/").length - 2);
    router.get(path.replaceAll("$", ":"), limit, (c) => {
      const headers = { etag, "cache-control": "no-cache", "content-security-policy": PAGE_POLICY };
      return c.req.header("if-none-match") === etag ? c.body(null, 304, headers) : c.html(text, 200, headers);
    });
  }
  router.get("/assets/:name", limit, (c) => {
    const file = files.assets.get(`assets/${c.req.param("name")}`);
    if (!file) throw notFound("file");
    return send(c, file);
  });
  return router;
}

function send(c: Context<GatewayEnvironment>, file: PageFile): Response {
  const accepted = c.req.header("accept-encoding");
  const coding = (["br", "gzip"] as const).find((one) => file[one] && takesCoding(accepted, one));
  return c.body((coding && file[coding]) ?? file.plain, 200, {
    "content-type": file.type, "cache-control": FOREVER, vary: "accept-encoding", ...(coding ? { "content-encoding": coding } : {}),
  });
}
