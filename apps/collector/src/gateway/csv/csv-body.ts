import { createMiddleware } from "hono/factory";
import type { GatewayEnvironment } from "../environment.ts";
import { NUL, refusal } from "../body/body.ts";
import { replaceBody } from "../body/json-body.ts";

/** @see RFC 7111 section 5.1: without a charset it is UTF-8. */
const TEXT_CSV = /^text\/csv\s*(?:;(.*))?$/is;
const CHARSET = /\bcharset\s*=\s*"?([\w-]*)/i;
const NOT_UTF8 = 'must be UTF-8: save the table as "CSV UTF-8"';

/**
 * Lets a route take its CSV as `text/csv`: its handler finds it as `csv`, as if it had come in JSON. A byte order mark, which
 * spreadsheets write, is no part of it.
 */
export const takeCsv = createMiddleware<GatewayEnvironment>(async (c, next) => {
  const [isCsv, parameters = ""] = TEXT_CSV.exec(c.req.header("content-type")?.trim() ?? "") ?? [];
  if (isCsv === undefined) return next();
  const [, charset = "utf-8"] = CHARSET.exec(parameters) ?? [];
  const csv = /^utf-?8$/i.test(charset) ? decodeUtf8(await c.req.arrayBuffer()) : null;
  if (csv === null) throw refusal("csv", NOT_UTF8);
  if (csv.includes("\0")) throw refusal("csv", NUL);
  replaceBody(c, { csv });
  return next();
});

function decodeUtf8(bytes: ArrayBuffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
