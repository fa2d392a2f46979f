import { createRoute, OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import { ErrorEnvelope, type Scope } from "@lanthorn/contract";
import { createMiddleware } from "hono/factory";
import { type GatewayEnvironment, identityOf, probeOf, type SecretAnswer } from "./environment.ts";
import { examineBody, limitBody } from "./body/body.ts";
import { takeCsv } from "./csv/csv-body.ts";
import { ApiError, forbidden } from "./errors.ts";
import { doOnce } from "./idempotency/once.ts";
import { recordPart } from "./body/record-part.ts";
import { faultsOf } from "./body/validation-messages.ts";

/**
 * Who may use a route: the bearer of a scope, by token or API key; a person by any valid token (`signed-in`), which no key
 * is, so that a leaked key makes no second one; any valid token or key (`known`); an enrolled probe; or `anyone`.
 */
export type Access = Scope | "signed-in" | "known" | "probe" | "anyone";

/** What a route must say of itself, or says beside what OpenAPI has a word for. */
interface Declared {
  /** A verb and what it is done to, `listDevices`: what a generated client calls the operation. */
  readonly operationId: string;
  /** That its answer holds a secret: it is never kept and never compressed. Left out where it holds none. */
  readonly "x-secret"?: SecretAnswer;
}

/**
 * Declares a route: its access makes the check, made before the body is read, and the entry in the OpenAPI document.
 * @param route As `createRoute` takes it; the error envelope is added to its responses.
 */
export function declareRoute<const R extends RouteConfig & Declared>(access: Access, route: R): R {
  const isPersons = access !== "anyone" && access !== "probe";
  const { middleware, ...ofRecord } = isPersons ? recordPart(route) : NO_RECORD;
  const isCsvTaken = Object.hasOwn(route.request?.body?.content ?? {}, "text/csv");
  return createRoute({
    ...route,
    ...ofRecord,
    "x-access": access,
    security: securityOf(access),
    ...(isScope(access) ? { description: `${route.description ?? ""}\n\nNeeds the scope \`${access}\`.`.trim() } : {}),
    middleware: [checkAccess(access), limitBody, examineBody, doOnce(route["x-secret"] ?? null), ...(isCsvTaken ? [takeCsv] : []), ...middleware],
    responses: {
      ...(ofRecord.responses ?? route.responses),
      default: { description: "The error envelope", content: { "application/json": { schema: ErrorEnvelope } } },
    },
  });
}

const NO_RECORD: ReturnType<typeof recordPart> = { middleware: [] };

/** An answer of JSON, as `createRoute` wants it. */
export function json<T extends z.ZodType>(schema: T) {
  return { "application/json": { schema } };
}

/** A 409 of a route that only reads: what changes something has it without being declared. */
export function conflict(description: string) {
  return { 409: { description, content: json(ErrorEnvelope) } };
}

/** A 404 of a route whose body names what may not be there: one whose path does has it without being declared. */
export function missing(description: string) {
  return { 404: { description, content: json(ErrorEnvelope) } };
}

/** A body of JSON that must be there. @param example What the documentation shows instead of one made up from the schema. */
export function jsonBody<T extends z.ZodType>(schema: T, example?: z.input<T>) {
  return { required: true, content: { "application/json": { schema, ...(example === undefined ? {} : { example }) } } };
}

/** A table that must be there, as `text/csv` or as `csv` in JSON; a handler finds it as JSON. @param example The table's text. */
export function csvBody<T extends z.ZodType<unknown, { readonly csv: string }>>(schema: T, example: string) {
  // Only for the document and the handler's types: `takeCsv` makes JSON of it, and that is what is checked.
  const csv = z.string().describe("CSV in UTF-8. Its first line names the columns.").transform((text) => schema.parse({ csv: text }));
  return {
    required: true,
    content: { "application/json": { schema, example: { csv: example } }, "text/csv": { schema: csv, example } },
  } as const;
}

/** An app for one service's routes: what does not fit its schema is answered 400 with the path of each fault. */
export function createRouter(): OpenAPIHono<GatewayEnvironment> {
  return new OpenAPIHono<GatewayEnvironment>({
    defaultHook(result) {
      if (!result.success) throw badRequest(result.error.issues);
    },
  });
}

/** More faults than this are one fault, which a person mends first. */
const MAX_FAULTS = 100;
/** Of a message or a path, in characters: both may quote what was sent. */
const MAX_FAULT_LENGTH = 300;

/** 400 with `details: [{ path, message }]`, of the first faults where there are many; what they quote is cut. */
export function badRequest(issues: Parameters<typeof faultsOf>[0]): ApiError {
  const details = faultsOf(issues.slice(0, MAX_FAULTS)).slice(0, MAX_FAULTS)
    .map(({ path, message }) => ({ path: cut(path), message: cut(message) }));
  const first = details[0];
  return new ApiError("BAD_REQUEST", first ? `${first.path || "body"}: ${first.message}` : "the request is not valid", { details });
}

function cut(text: string): string {
  return text.length > MAX_FAULT_LENGTH ? `${text.slice(0, MAX_FAULT_LENGTH)}…` : text;
}

function isScope(access: Access): access is Scope {
  return access.includes(":");
}

function securityOf(access: Access): Record<string, string[]>[] {
  if (access === "anyone") return [];
  if (access === "probe") return [{ certificate: [] }];
  if (access === "known") return [{ bearer: [] }, { apiKey: [] }];
  return access === "signed-in" ? [{ bearer: [] }] : [{ bearer: [access] }, { apiKey: [access] }];
}

/** Answers 401 or 403 for who may not use a route of this access. */
export function checkAccess(access: Access) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    if (c.var.isOwnRead) return next();
    if (access === "probe") probeOf(c);
    else if (access !== "anyone") {
      const identity = identityOf(c);
      const isAllowed = isScope(access) ? identity.scopes.has(access) : access === "known" || identity.key === null;
      if (!isAllowed) throw forbidden(isScope(access) ? `this needs the scope ${access}` : "this needs a person's token", access);
    }
    return next();
  });
}
