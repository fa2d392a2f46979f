import { bodyLimit } from "hono/body-limit";
import { createMiddleware } from "hono/factory";
import type { GatewayEnvironment } from "../environment.ts";
import { ApiError } from "../errors.ts";
import { jsonExcess, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "./json-limits.ts";
import { placeOfNul } from "./nul.ts";

/** The largest body of any route. A configuration of half a megabyte and a CSV of one fit into it as JSON. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Refuses a larger body with 413, by its stated length or as it comes in, and closes the connection: what is still on its
 * way would have to be read only to be thrown away.
 */
export const limitBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError() {
    throw new ApiError("BAD_REQUEST", `the body is larger than ${MAX_BODY_BYTES} bytes`, { status: 413, headers: { connection: "close" } });
  },
});

const TOO_MUCH = {
  depth: `lists and objects may be nested ${MAX_JSON_DEPTH} deep`,
  values: `a body may have ${MAX_JSON_VALUES} values and names of fields`,
} as const;
/** Why U+0000 is refused. */
export const NUL = "a text cannot contain U+0000";

/**
 * Refuses JSON that is too deep or has too many values before anything parses it, so that what parses, checks and reports
 * has a bound. U+0000 is refused too: PostgreSQL's texts cannot hold it, programs in C would see half of the text, and nobody
 * means it.
 */
export const examineBody = createMiddleware<GatewayEnvironment>(async (c, next) => {
  if (c.req.url.includes("%00")) {
    const [name] = [...new URL(c.req.url).searchParams].find(([, value]) => value.includes("\0")) ?? [];
    throw refusal(name ?? "", NUL);
  }
  if (c.req.header("content-type")?.toLowerCase().includes("json")) {
    const json = await c.req.text();
    const excess = jsonExcess(json);
    if (excess !== null) throw refusal("", TOO_MUCH[excess]);
    const path = placeOfNul(json);
    if (path) throw refusal(path.join("."), NUL);
  }
  await next();
});

/** 400 with one fault; without a path it is the whole body's. */
export function refusal(path: string, message: string): ApiError {
  return new ApiError("BAD_REQUEST", `${path || "body"}: ${message}`, { details: [{ path, message }] });
}
