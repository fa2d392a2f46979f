import type { RouteConfig } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import * as z from "zod";
import type { GatewayEnvironment } from "../environment.ts";
import { guardRecord, tagRecord } from "../precondition.ts";
import { takeWholeRecord } from "./whole-record.ts";

type Content = NonNullable<NonNullable<RouteConfig["request"]>["body"]>["content"];

/** What a route gets for being about one record: what runs before its handler, and what the document says of it. */
interface RecordPart {
  readonly middleware: readonly MiddlewareHandler<GatewayEnvironment>[];
  readonly request?: NonNullable<RouteConfig["request"]>;
  readonly responses?: RouteConfig["responses"];
}

const TAG_EXAMPLE = '"0fXz4vQq0sOeYgGv2fZyTg1kq9c"';
const IfMatch = z.object({
  "if-match": z.string().max(1000).optional().meta({
    description: "Entity tags from the record's GET. If the record has another state, the answer is 409 and nothing is written.",
    examples: [TAG_EXAMPLE],
  }),
});
const IfNoneMatch = z.object({
  "if-none-match": z.string().max(1000).optional().meta({
    description: "Entity tags of your copy of the record. If its state is the same, the answer is 304 without a body.", examples: [TAG_EXAMPLE],
  }),
});
const ETag = {
  description: "The record's state, for `If-Match` and `If-None-Match`.", schema: { type: "string" }, example: TAG_EXAMPLE,
} as const;

/** A record's GET has a tag; its PUT and DELETE can be bound to one, and its PUT takes what the GET gave. */
export function recordPart({ method, request = {}, responses }: RouteConfig): RecordPart {
  if (method === "get") return readPart(request, responses);
  if (method !== "put" && method !== "delete") return { middleware: [] };
  const body = method === "put" ? schemaOf(request.body?.content) : undefined;
  return {
    middleware: [guardRecord, ...(body instanceof z.ZodObject ? [takeWholeRecord(body)] : [])],
    ...(request.headers === undefined ? { request: { ...request, headers: IfMatch } } : {}),
  };
}

/** The schema of a body's JSON. */
function schemaOf(content: Content | undefined): unknown {
  const media = content?.["application/json"];
  return media && "schema" in media ? media.schema : undefined;
}

function readPart(request: NonNullable<RouteConfig["request"]>, responses: RouteConfig["responses"]): RecordPart {
  const answer = responses["200"];
  const content = answer && "content" in answer ? schemaOf(answer.content) : undefined;
  // What is a list changes with each of its members, and is read anew.
  if (!answer || !(content instanceof z.ZodObject) || Object.hasOwn(content.shape, "data")) return { middleware: [] };
  return {
    middleware: [tagRecord],
    ...(request.headers === undefined ? { request: { ...request, headers: IfNoneMatch } } : {}),
    responses: {
      ...responses, 200: { ...answer, headers: { ETag } },
      304: { description: "The record has the state of an entity tag in `If-None-Match`", headers: { ETag } },
    },
  };
}
