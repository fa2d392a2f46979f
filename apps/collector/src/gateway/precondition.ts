import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { createMiddleware } from "hono/factory";
import type { GatewayEnvironment } from "./environment.ts";
import { ApiError } from "./errors.ts";

/** Entity tags with commas between, weak or strong, or `*`. @see RFC 9110 section 8.8.3 */
const TAGS = /^\s*(?:\*|(?:W\/)?"[\x21\x23-\x7e]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e]*")*)\s*$/;

/** How often a record that is written to all the time is read for the tag of a conflict. */
const MAX_READS = 5;

/** The entity tag of a record, from the JSON that its GET answers, or of any other text. @see RFC 9110 section 8.8.3 */
export function tagOf(text: string): string {
  return `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`;
}

/**
 * The answer of a record's GET gets its tag; who has that state already gets 304 without a body.
 * @see RFC 9110 section 13.1.2
 */
export const tagRecord = createMiddleware<GatewayEnvironment>(async (c, next) => {
  await next();
  if (c.res.status !== 200) return;
  const tag = tagOf(await c.res.clone().text());
  const known = c.req.header("if-none-match");
  if (known !== undefined && isAmong(tag, known)) {
    const { headers } = c.res;
    c.res = new Response(null, { status: 304 });
    for (const [name, value] of headers) if (!name.startsWith("content-")) c.res.headers.set(name, value);
    c.res.headers.delete("content-type");
  }
  c.header("etag", tag);
});

/** What the request that is now at work found to be true, and must still be where it writes. */
const precondition = new AsyncLocalStorage<() => Promise<void>>();

/**
 * A write with `If-Match` is done only where the record is as the caller read it; else it is 409, the specification's one
 * status for a resource conflict, where RFC 9110 would have 412.
 *
 * It is looked at twice: before the work, to refuse early; and in the transaction of the write, by `checkPrecondition`, so
 * that of two writers of one state one loses and no update does.
 * @see RFC 9110 section 13.1.1
 */
export const guardRecord = createMiddleware<GatewayEnvironment>(async (c, next) => {
  const wanted = c.req.header("if-match");
  if (wanted === undefined) return next();
  if (!TAGS.test(wanted)) {
    const message = "must be entity tags as in an ETag header, separated by commas, or *";
    throw new ApiError("BAD_REQUEST", `If-Match: ${message}`, { details: [{ path: "If-Match", message }] });
  }
  const read = async () => {
    const json = await c.var.readRecord(c);
    if (json === null) throw new ApiError("CONFLICT", "this record has no entity tag: leave If-Match out");
    return tagOf(json);
  };
  const check = async () => {
    const first = await read();
    if (isAmong(first, wanted)) return;
    const tag = await settledTag(read, first);
    if (isAmong(tag, wanted)) return;
    const message = "the record was changed since you read it: read it again, and repeat the change";
    throw new ApiError("CONFLICT", message, { details: { etag: tag }, headers: { etag: tag } });
  };
  await check();
  return precondition.run(check, next);
});

/**
 * Called in the transaction of every write, once what it writes is locked. What is read is the record as it was committed
 * last: the open transaction has the write lock (SQLite) or the row's (PostgreSQL), so nobody else changes it before the end.
 * @throws ApiError CONFLICT where the request's `If-Match` does not hold any more.
 */
export async function checkPrecondition(): Promise<void> {
  await precondition.getStore()?.();
}

/** A record is read in several statements, between which another's write may end: a tag that two reads agree on is of a state that it was in. */
async function settledTag(read: () => Promise<string>, first: string): Promise<string> {
  let tag = first;
  for (let reads = 1; reads < MAX_READS; reads += 1) {
    const again = await read();
    if (again === tag) break;
    tag = again;
  }
  return tag;
}

/** A proxy that compresses makes a tag weak; it still names the same state of the record. */
function isAmong(tag: string, list: string): boolean {
  return list.trim() === "*" || list.split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
}
