import type { Context } from "hono";
import type { GatewayEnvironment } from "../environment.ts";

/** Gives what comes after another body to read, in JSON, in place of the one that was sent. */
export function replaceBody(c: Context<GatewayEnvironment>, body: unknown): void {
  const headers = new Headers(c.req.raw.headers);
  headers.set("content-type", "application/json");
  headers.delete("content-length");
  c.req.raw = new Request(c.req.url, { method: c.req.method, headers, body: JSON.stringify(body) });
  c.req.bodyCache = {};
}
