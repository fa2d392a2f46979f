import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { createMiddleware } from "hono/factory";
import type { GatewayEnvironment } from "../environment.ts";

/** In a thread of its own, so that the loop does not wait for it. */
const compress = promisify(gzip);

/** Less fits into one packet anyway. */
const MIN_BYTES = 1400;

/**
 * Answers JSON and CSV in gzip to who takes it. What holds a secret, or is another service's, goes out as it is: the length of
 * a compressed answer tells of what is in it. An export is compressed as it streams.
 * @see RFC 9110 section 12.5.3; https://breachattack.com
 */
export const compressAnswers = createMiddleware<GatewayEnvironment>(async (c, next) => {
  await next();
  const type = c.res.headers.get("content-type") ?? "";
  const isCsv = type.startsWith("text/csv");
  const isMeant = c.res.status === 200 && (isCsv || type.startsWith("application/json"));
  if (!isMeant || c.res.body === null || c.res.headers.has("content-encoding")) return;
  c.header("vary", "accept-encoding", { append: true });
  if (c.var.isPlain || c.req.method === "HEAD" || !takesCoding(c.req.header("accept-encoding"), "gzip")) return;
  const headers = new Headers(c.res.headers);
  if (isCsv) {
    headers.set("content-encoding", "gzip");
    c.res = new Response(c.res.body.pipeThrough(new CompressionStream("gzip")), { status: c.res.status, headers });
    return;
  }
  const plain = Buffer.from(await c.res.arrayBuffer());
  const isWorth = plain.length >= MIN_BYTES;
  if (isWorth) headers.set("content-encoding", "gzip");
  headers.delete("content-length");
  c.res = new Response(isWorth ? await compress(plain) : plain, { status: c.res.status, headers });
});

/** Whether a coding is named, and not with a weight of 0. @param accepted The header `accept-encoding`. */
export function takesCoding(accepted: string | undefined, wanted: "br" | "gzip"): boolean {
  return (accepted ?? "").toLowerCase().split(",").some((coding) => {
    const [name = "", ...parameters] = coding.split(";").map((part) => part.trim());
    return (name === wanted || name === "*") && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
