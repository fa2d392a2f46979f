import { createRoute, OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import { ErrorEnvelope, type Scope } from "@lanthorn/contract";
import { createMiddleware } from "hono/factory";
import { type GatewayEnvironment, identityOf, probeOf } from "./environment.ts";
import { ApiError, forbidden } from "./errors.ts";
import { placeOfNul } from "./nul.ts";

/**
 * Who may use a route: the bearer of a scope, by token or API key; a person by any valid token (`signed-in`), which no key
 * is, so that a leaked key makes no second one; any valid token or key (`known`); an enrolled probe; or `anyone`.
 */
export type Access = Scope | "signed-in" | "known" | "probe" | "anyone";

/**
 * Declares a route: its access makes the check, made before the request is validated, and the entry in the OpenAPI document.
 * @param route As `createRoute` takes it; the error envelope is added to its responses.
 */
export function declareRoute<const R extends RouteConfig>(access: Access, route: R): R {
  return createRoute({
    ...route,
    "x-access": access,
    security: securityOf(access),
    ...(isScope(access) ? { description: `${route.description ?? ""}\n\nNeeds the scope \`${access}\`.`.trim() } : {}),
    middleware: [checkAccess(access), refuseNul],
    responses: {
      ...route.responses, default: { description: "The error envelope", content: { "application/json": { schema: ErrorEnvelope } } },
    },
  });
}

/** An answer of JSON, as `createRoute` wants it. */
export function json<T extends z.ZodType>(schema: T) {
  return { "application/json": { schema } };
}

/** A body of JSON that must be there. @param example What the documentation shows instead of one made up from the schema. */
export function jsonBody<T extends z.ZodType>(schema: T, example?: z.input<T>) {
  return { required: true, content: { "application/json": { schema, ...(example === undefined ? {} : { example }) } } };
}

/** An app for one service's routes: what does not fit its schema is answered 400 with the path of each fault. */
export function createRouter(): OpenAPIHono<GatewayEnvironment> {
  return new OpenAPIHono<GatewayEnvironment>({
    defaultHook(result) {
      if (!result.success) throw badRequest(result.error.issues);
    },
  });
}

/** 400 with `details: [{ path, message }]`. */
export function badRequest(issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): ApiError {
  const details = issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  const first = details[0];
  return new ApiError("BAD_REQUEST", first ? `${first.path || "body"}: ${first.message}` : "the request is not valid", { details });
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

const NUL = "a text cannot hold U+0000";

/** PostgreSQL's texts cannot hold it, programs in C would see half of the text, and nobody means it. */
const refuseNul = createMiddleware<GatewayEnvironment>(async (c, next) => {
  if (c.req.url.includes("%00")) {
    const [name] = [...new URL(c.req.url).searchParams].find(([, value]) => value.includes("\0")) ?? [];
    throw badRequest([{ path: name === undefined ? [] : [name], message: NUL }]);
  }
  if (c.req.header("content-type")?.includes("json")) {
    const path = placeOfNul(await c.req.text());
    if (path) throw badRequest([{ path, message: NUL }]);
  }
  await next();
});

/** Answers 401 or 403 for who may not use a route of this access. */
export function checkAccess(access: Access) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    if (access === "probe") probeOf(c);
    else if (access !== "anyone") {
      const identity = identityOf(c);
      const isAllowed = isScope(access) ? identity.scopes.has(access) : access === "known" || identity.key === null;
      if (!isAllowed) throw forbidden(isScope(access) ? `this needs the scope ${access}` : "this needs a person's token", access);
    }
    await next();
  });
}
