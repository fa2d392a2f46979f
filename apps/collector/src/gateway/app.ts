import type { OpenAPIHono } from "@hono/zod-openapi";
import { type Clock, createId, describeError, type Log } from "@lanthorn/runtime";
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import { matchedRoutes } from "hono/route";
import { secureHeaders } from "hono/secure-headers";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { MeasureRequest } from "./http/measure.ts";
import { isAway, isFull } from "../db/faults.ts";
import { limitGroup } from "./http/address.ts";
import type { Authentication } from "./authentication.ts";
import { compressAnswers } from "./http/compress.ts";
import { allowOrigins, answerPreflight, isPreflight } from "./http/cors.ts";
import { type GatewayEnvironment, type Identity, identityOf, isIdentity, type Peer, STRANGER_KEEP_ALIVE_SECONDS } from "./environment.ts";
import { ApiError, errorEnvelope, rateLimited } from "./errors.ts";
import type { Idempotency } from "./idempotency/idempotency.ts";
import { IDENTITY_HEADER, readCaller } from "./proxy/identity.ts";
import type { Allowance, Caller, RateLimiter, Tier } from "./limits/rate-limit.ts";
import { createRecordReader } from "./body/record-reader.ts";
import { createRouter } from "./route.ts";
import { isUnreadable } from "../sealing/sealing.ts";
import { SERVICE_NAMES, type ServiceRoutes } from "./services.ts";
import { useOwnMessages } from "./body/validation-messages.ts";

/** Rate limits by kind of client: `standard` for users and unknown clients, `admin` for administrators, `service` for API keys and probes. */
export type Tiers = Readonly<Record<"standard" | "admin" | "service", Tier>> & {
  /** How many times a token's limit all tokens of a user, or all keys of a maker, have together; 4. */
  readonly tokensPerUser?: number;
};

interface GatewayDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly authentication: Pick<Authentication, "byToken" | "byKey">;
  readonly limiter: RateLimiter;
  readonly tiers: Tiers;
  /** What makes a POST that carries `Idempotency-Key` happen once. */
  readonly idempotency: Pick<Idempotency, "doOnce">;
  /** Origins whose pages may read the answers. */
  readonly origins?: readonly string[];
  /** What a gateway in front of this collector signs with; null where there is none. */
  readonly gatewaySecret?: Uint8Array | null;
  /** Mounted under `/api/v1` and `/api`. */
  readonly services: ServiceRoutes;
  /** Mounted at the root, for whoever asks: the dashboard's page and its files. Credentials are not read, and each limits its own rate. */
  readonly open?: readonly OpenAPIHono<GatewayEnvironment>[];
  /** Mounted at the root: documentation, metrics. */
  readonly atRoot?: readonly OpenAPIHono<GatewayEnvironment>[];
  readonly measure?: MeasureRequest;
  /** One of the gateway's own routes, mounted at the root as well: `/health`. */
  readonly health: OpenAPIHono<GatewayEnvironment>;
}

/** What routes are declared with; HEAD is GET without a body. */
const METHODS = ["GET", "POST", "PUT", "DELETE"] as const;
const TIME_LIMIT_MS = 30_000;
/** Longer ones are cut by proxies and browsers in places that nobody sees; all that a list takes fits into a quarter. */
const URL_LIMIT = 8192;

/**
 * The one app behind every listener. In order: request id, access log, headers, who is it, rate limit, time limit; then the
 * route's own: its access check, the body's limits, whether it was done before, its schema.
 */
export function createGateway(deps: GatewayDependencies): OpenAPIHono<GatewayEnvironment> {
  useOwnMessages();
  const app = createRouter();
  app.use(accessLog(deps));
  app.use(keepConnection);
  app.use(secureHeaders({
    // A page of documentation has its own policy.
    overwrite: false, strictTransportSecurity: false, contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  }));
  app.use(compressAnswers);
  app.use(noStore);
  app.use(allowOrigins(deps.origins ?? []));
  for (const router of deps.open ?? []) app.route("/", router);
  app.use(identify(deps));
  app.use(limitRate(deps));
  app.use(answerPreflight(deps.origins ?? []));
  app.use(limitUrl);
  app.use(limitTime(deps.clock));
  const readRecord = createRecordReader(deps.services);
  app.use(async (c, next) => {
    c.set("doOnce", deps.idempotency.doOnce);
    c.set("readRecord", readRecord);
    await next();
  });
  // First, since a service may have a route with a parameter where a page of documentation is.
  for (const router of deps.atRoot ?? []) app.route("/", router);
  for (const prefix of ["/api/v1", "/api"]) {
    for (const router of SERVICE_NAMES.flatMap((name) => deps.services[name] ?? [])) app.route(prefix, router);
  }
  app.route("/", deps.health);
  app.notFound((c) => {
    identityOf(c);
    const allow = METHODS.filter((method) => app.router.match(method, c.req.path)[0].some(([[, route]]) => route.method === method));
    if (allow.length > 0) {
      const message = `there is no ${c.req.method} ${c.req.path}; allowed: ${allow.join(", ")}`;
      throw new ApiError("NOT_FOUND", message, { status: 405, headers: { allow: allow.join(", ") } });
    }
    throw new ApiError("NOT_FOUND", `there is no ${c.req.method} ${c.req.path}`);
  });
  app.onError((error, c) => answerError(error, c, deps.log));
  return app;
}

/** As many as a person has browsers and tools at once. */
const TOKENS_PER_USER = 4;

/**
 * Who is asking, for the rate limit: the token, or the address of who has none. `shared` is what a user's tokens have together,
 * and apart from that what the API keys of one maker have: a token that is refreshed or made anew brings no new allowance.
 */
export function callerOf(identity: Identity | string | null, peer: Peer, tiers: Tiers): Caller & { readonly shared?: Caller } {
  if (identity !== null && typeof identity === "object") {
    const tier = identity.key ? tiers.service : tiers[identity.role === "admin" ? "admin" : "standard"];
    const times = tiers.tokensPerUser ?? TOKENS_PER_USER;
    return {
      caller: `token ${identity.tokenId}`, tier,
      shared: {
        caller: `${identity.key ? "maker" : "user"} ${identity.userId}`, tier: { perMinute: tier.perMinute * times, burst: tier.burst * times },
      },
    };
  }
  if (peer.probeId !== null) return { caller: `probe ${peer.probeId}`, tier: tiers.service };
  return { caller: `address ${limitGroup(peer.address)}`, tier: tiers.standard };
}

/** A browser asks before each kind of request, without credentials: counted by itself, so that asking takes nothing from the requests. */
function preflightOf(peer: Peer, tiers: Tiers): ReturnType<typeof callerOf> {
  return { caller: `preflight ${limitGroup(peer.address)}`, tier: tiers.service };
}

/** Counts what never becomes a request, or not one for this app: by the probe or the address at the other end. */
export function createPeerAllowance(
  { limiter, tiers }: Pick<GatewayDependencies, "limiter" | "tiers">,
): (peer: Peer) => Allowance | Promise<Allowance> {
  return (peer) => {
    const { caller, tier } = callerOf(null, peer, tiers);
    return limiter.take(caller, tier);
  };
}

/** The headers that every answer carries. */
export function allowanceHeaders(allowance: Allowance): Readonly<Record<string, string>> {
  return {
    "x-ratelimit-limit": String(allowance.limit), "x-ratelimit-remaining": String(allowance.remaining),
    "x-ratelimit-reset": String(Math.ceil(allowance.resetMs / 1000)),
  };
}

/** One line for each request: never its query, in which a token may be, and no header. */
function accessLog({ clock, log, measure }: GatewayDependencies) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    const startedAt = clock.monotonic();
    const requestId = createId();
    c.set("requestId", requestId);
    await next();
    c.header("x-request-id", requestId);
    measure?.({ method: c.req.method, route: routeOf(c), status: c.res.status, seconds: (clock.monotonic() - startedAt) / 1000 });
    const identity = c.var.identity !== null && typeof c.var.identity === "object" ? c.var.identity : null;
    log.info({
      request_id: requestId, method: c.req.method, path: c.req.path, status: c.res.status, ms: Math.round(clock.monotonic() - startedAt),
      address: c.env.peer.address, user: identity?.userId, api_key: identity?.key?.id, probe: c.env.peer.probeId ?? undefined,
    }, "request");
  });
}

/** The route's template in its one spelling, `/api/v1/devices/{device_id}`; `none` for a path that is nobody's. */
function routeOf(c: Context<GatewayEnvironment>): string {
  const path = matchedRoutes(c).findLast((route) => route.path !== "/*")?.path;
  return path === undefined ? "none" : path.replace(/^\/api(?!\/v1\/)/, "/api/v1").replaceAll(/:(\w+)/g, "{$1}");
}

/** Answers are about one moment and one caller: nobody on the way may keep them. */
const noStore = createMiddleware<GatewayEnvironment>(async (c, next) => {
  await next();
  if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");
  if (c.env.peer.secure) c.header("strict-transport-security", "max-age=31536000");
});

/**
 * A client that is refused with 401 or 429 gives its connection back, and an anonymous one gets its keep-alive time. A trusted
 * proxy's connections serve all of its clients, and stay.
 */
const keepConnection = createMiddleware<GatewayEnvironment>(async (c, next) => {
  await next();
  const kind = c.env.connection?.kind() ?? "proxy";
  if (kind === "proxy") return;
  if (c.res.status === 401 || c.res.status === 429) c.header("connection", "close");
  else if (kind === "stranger") c.header("keep-alive", `timeout=${STRANGER_KEEP_ALIVE_SECONDS}`);
});

const limitUrl = createMiddleware<GatewayEnvironment>(async (c, next) => {
  if (c.req.url.length > URL_LIMIT) throw new ApiError("BAD_REQUEST", `the URL is longer than ${URL_LIMIT} characters`, { status: 414 });
  await next();
});

function identify(deps: GatewayDependencies) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    const signed = c.req.header(IDENTITY_HEADER);
    if (signed !== undefined && deps.gatewaySecret) {
      const caller = await readCaller(signed, { secret: deps.gatewaySecret, clock: deps.clock });
      // What the gateway in front says of the client is what there is to know: the connection is its own.
      if (typeof caller !== "string") Object.assign(c.env, { peer: { ...caller.peer, secure: c.env.peer.secure } satisfies Peer });
      c.set("identity", typeof caller === "string" ? caller : caller.identity);
    } else c.set("identity", await readIdentity(c.req.header("authorization"), c.req.header("x-api-key"), deps));
    if (c.env.peer.probeId !== null || isIdentity(c.var.identity)) c.env.connection?.known();
    await next();
  });
}

async function readIdentity(
  authorization: string | undefined, key: string | undefined, { authentication }: GatewayDependencies,
): Promise<Identity | string | null> {
  // Which of two counts would be anybody's guess, and the audit log would name one of two.
  if (authorization !== undefined && key !== undefined) return "send a token or an API key, not both";
  if (key !== undefined) return authentication.byKey(key);
  if (authorization === undefined) return null;
  const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization)?.[1];
  return token === undefined ? "the Authorization header must have the form: Bearer <access_token>" : authentication.byToken(token);
}

function limitRate({ limiter, tiers }: GatewayDependencies) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    const { caller, tier, shared } = isPreflight(c.req.raw) ? preflightOf(c.env.peer, tiers) : callerOf(c.var.identity, c.env.peer, tiers);
    const allowance = await limiter.take(caller, tier, shared);
    for (const [name, value] of Object.entries(allowanceHeaders(allowance))) c.header(name, value);
    if (!allowance.allowed) throw rateLimited("too many requests", allowance.retryAfterMs);
    await next();
  });
}

/** The work itself is not cut off: it ends when it ends, but nobody waits for it. */
function limitTime(clock: Clock) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(TIME_LIMIT_MS, () => {
        const lateness = new ApiError("SERVICE_UNAVAILABLE", `not answered within ${TIME_LIMIT_MS / 1000} s`);
        c.set("lateness", lateness);
        reject(lateness);
      });
    });
    try {
      await Promise.race([next(), late]);
    } finally {
      cancel();
    }
  });
}

function answerError(error: Error, c: Context<GatewayEnvironment>, log: Log): Response {
  const refusal = toApiError(error);
  if (refusal.status >= 500 && !refusal.isOrdinary) log
    .error({ request_id: c.var.requestId, path: c.req.path, reason: describeError(error), stack: error.stack }, "request failed");
  for (const [name, value] of Object.entries(refusal.headers)) c.header(name, value);
  if (refusal.code === "UNAUTHORIZED") c.header("www-authenticate", "Bearer");
  return c.json(errorEnvelope(refusal), refusal.status as ContentfulStatusCode);
}

function toApiError(error: Error): ApiError {
  if (error instanceof ApiError) return error;
  // Hono's own: a body that is no JSON, or of another content type.
  if (error instanceof HTTPException && error.status < 500) {
    const message = error.status === 415 ? "send content-type: application/json" : error.message;
    return new ApiError("BAD_REQUEST", message, { details: [{ path: "", message }], cause: error });
  }
  if (isAway(error)) return new ApiError("SERVICE_UNAVAILABLE", "the database cannot be reached now; try again", { cause: error });
  if (isFull(error)) {
    return new ApiError(
      "SERVICE_UNAVAILABLE", "the collector's disk is full: nothing can be written", { details: { reason: "disk-full" }, cause: error },
    );
  }
  if (isUnreadable(error)) {
    const message = "this was encrypted with a sealing key that the collector does not have: restore that key "
      + "(restore --keys), or set the secret anew";
    return new ApiError("CONFLICT", message, { details: { reason: "secret-unreadable" }, cause: error });
  }
  return new ApiError("INTERNAL_ERROR", "internal error: find the request id in the collector's log", { cause: error });
}
