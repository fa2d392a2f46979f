import { isDeepStrictEqual } from "node:util";
import { parseJson } from "@lanthorn/runtime";
import { createMiddleware } from "hono/factory";
import * as z from "zod";
import type { GatewayEnvironment } from "../environment.ts";
import { ApiError } from "../errors.ts";
import { replaceBody } from "./json-body.ts";

/**
 * Lets a PUT take the record that its GET gave, with what is to be changed in it. A body that has a field which only the
 * record has is taken for one: what is in it as it is in the record counts as left out, so that nothing is set (and locked)
 * that the caller did not touch. A read-only field that differs is 400 and named. Nothing that differs is an answer of 200
 * with the record, and no write.
 * @param schema What the PUT takes.
 */
export function takeWholeRecord(schema: z.ZodObject) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    const body = parseJson(await c.req.text());
    if (typeof body !== "object" || body === null || Array.isArray(body)) return next();
    const fields = Object.entries(body as Readonly<Record<string, unknown>>);
    if (fields.every(([name]) => Object.hasOwn(schema.shape, name))) return next();
    // Of what is not there nothing can have come: its fields are as unknown as any other.
    const json = await c.var.readRecord(c).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === "NOT_FOUND") return null;
      throw error;
    });
    if (json === null) return next();
    const record = parseJson(json) as Readonly<Record<string, unknown>>;
    const isSame = ([name, value]: readonly [string, unknown]) => Object.hasOwn(record, name) && isDeepStrictEqual(value, record[name]);
    const changed = fields.filter((field) => !isSame(field));
    const readOnly = changed.filter(([name]) => !Object.hasOwn(schema.shape, name) && Object.hasOwn(record, name));
    if (readOnly.length > 0) {
      const message = "is read-only and differs from the record: leave it out, or read the record again";
      const details = readOnly.map(([name]) => ({ path: name, message }));
      throw new ApiError("BAD_REQUEST", `${details[0]?.path ?? ""}: ${message}`, { details });
    }
    if (changed.length === 0) return c.body(json, 200, { "content-type": "application/json" });
    const kept = fields.filter((field) => !isSame(field) || isRequired(schema, field[0]));
    replaceBody(c, Object.fromEntries(kept));
    return next();
  });
}

function isRequired(schema: z.ZodObject, name: string): boolean {
  const field: unknown = schema.shape[name];
  return field instanceof z.ZodType && !field.safeParse(undefined).success;
}
