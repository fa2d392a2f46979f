import { ERROR_STATUS, type ErrorCode } from "@lanthorn/contract";
import type { Operation, Response } from "./openapi.ts";

interface ErrorDeclaration {
  readonly code: ErrorCode;
  readonly description: string;
  readonly message: string;
  readonly details?: unknown;
}

/** The answers that are errors, by the name of their component. */
const ERRORS = {
  BadRequest: {
    code: "BAD_REQUEST", description: "A parameter or the body is not valid",
    message: "ip: must be an IPv4 or IPv6 address",
    details: [{ path: "ip", message: "must be an IPv4 or IPv6 address" }, { path: "colour", message: "is not a known field" }],
  },
  Unauthorized: { code: "UNAUTHORIZED", description: "Credentials are missing, wrong or expired", message: "the token has expired" },
  Forbidden: {
    code: "FORBIDDEN", description: "The credentials do not allow this",
    message: "this needs the scope devices:write", details: { required: "devices:write" },
  },
  NotFound: { code: "NOT_FOUND", description: "The record does not exist, or it belongs to another tenant", message: "no such device" },
  Conflict: { code: "CONFLICT", description: "It conflicts with an existing record", message: "the site name Headquarters is taken" },
  TooLarge: { code: "BAD_REQUEST", description: "The body is too large", message: "the body is larger than 1048576 bytes" },
  RateLimited: {
    code: "RATE_LIMITED", description: "Too many requests; try again after `Retry-After` seconds",
    message: "too many requests",
  },
  InternalError: {
    code: "INTERNAL_ERROR", description: "An internal error",
    message: "internal error: find the request id in the collector's log",
  },
  BadGateway: {
    code: "BAD_GATEWAY", description: "The service behind the gateway cannot be reached",
    message: "the service vault cannot be reached",
  },
  Unavailable: {
    code: "SERVICE_UNAVAILABLE", description: "The service is not ready, or did not answer in time",
    message: "not answered within 30 s",
  },
} as const satisfies Record<string, ErrorDeclaration>;

/** What the gateway answers before a request has come to an operation: so no operation can list it. */
export const GENERAL_REFUSALS: Readonly<Record<number, string>> = {
  404: "there is no such path (`NOT_FOUND`)",
  405: "the path has no such method; `Allow` lists those that it has (`NOT_FOUND`)",
  408: "the request did not come in time (`BAD_REQUEST`)",
  414: "the URL is longer than 8192 characters (`BAD_REQUEST`)",
  431: "URL and headers are too large together (`BAD_REQUEST`)",
};

type ErrorName = keyof typeof ERRORS;

const STATUS: Readonly<Record<ErrorName, number>> = {
  ...(Object.fromEntries(Object.entries(ERRORS).map(([name, { code }]) => [name, ERROR_STATUS[code]])) as Record<ErrorName, number>),
  TooLarge: 413,
};

/** Every answer carries these. */
const COMMON_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"] as const;

/** Response headers as components of the document, by header name. @see OpenAPI 3.1.0 section 4.8.21 */
export const HEADERS: Readonly<Record<string, object>> = {
  "X-RateLimit-Limit": { description: "Requests that are allowed in a minute.", schema: { type: "integer" }, example: 60 },
  "X-RateLimit-Reset": {
    description: "Whole seconds until `X-RateLimit-Remaining` rises.", schema: { type: "integer" }, example: 1,
  },
  "X-RateLimit-Remaining": {
    description: "Requests that are left, of the tighter of two windows: a minute and a second.", schema: { type: "integer" }, example: 9,
  },
  "X-Request-Id": {
    description: "The id of this request in the collector's log.", schema: { type: "string", format: "uuid" },
    example: "01989f2e-7c11-7aa0-b3c4-5d6e7f809102",
  },
  "Retry-After": { description: "Seconds to wait before the next request.", schema: { type: "integer" }, example: 1 },
};

/** References to the headers of one response: those that every answer has, and `names`, which must be keys of `HEADERS`. */
export function headersOf(names: readonly string[] = []): object {
  return Object.fromEntries([...COMMON_HEADERS, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** @param envelope The schema of every error's body, or a `$ref` to it. */
export function errorResponses(envelope: object): Readonly<Record<string, Response>> {
  return Object.fromEntries(Object.entries(ERRORS).map(([name, error]: [string, ErrorDeclaration]) => [name, {
    description: error.description,
    headers: headersOf(name === "RateLimited" ? ["Retry-After"] : []),
    content: {
      "application/json": {
        schema: envelope, example: { error: { code: error.code, message: error.message, details: error.details ?? null } },
      },
    },
  }]));
}

/** The errors that an operation may answer, by status: what its declaration makes possible, and what may happen to any. */
export function errorsOf(method: string, path: string, operation: Operation, isRemote: boolean): Readonly<Record<string, Response>> {
  const hasBody = operation.requestBody !== undefined;
  const secured = (operation.security?.length ?? 0) > 0;
  const may: Readonly<Record<ErrorName, boolean>> = {
    BadRequest: hasBody || (operation.parameters?.length ?? 0) > 0,
    // Where the body holds the credential: a login, an enrollment.
    Unauthorized: secured || hasBody,
    Forbidden: operation.security?.some((scheme) => !("certificate" in scheme)) ?? false,
    // Of what there is one at most, there may be none to delete.
    NotFound: path.includes("{") || method === "delete" || namesAnother(operation),
    Conflict: method !== "get" && secured,
    TooLarge: hasBody,
    RateLimited: true,
    InternalError: true,
    BadGateway: isRemote,
    Unavailable: true,
  };
  const names = (Object.keys(ERRORS) as ErrorName[]).filter((name) => may[name]);
  return Object.fromEntries(names.map((name) => [String(STATUS[name]), { $ref: `#/components/responses/${name}` }]));
}

/** Whether a parameter or a field is another thing's id. */
function namesAnother({ parameters = [], requestBody }: Operation): boolean {
  const fields = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => Object.keys(schema?.properties ?? {}));
  return [...parameters.map(({ name }) => name), ...fields].some((name) => name.endsWith("_id") || name.endsWith("_ids"));
}
