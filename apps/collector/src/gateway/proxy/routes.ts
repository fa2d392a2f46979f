import { Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Clock } from "@lanthorn/runtime";
import type { Context } from "hono";
import type { StatusCode } from "hono/utils/http-status";
import type { GatewayEnvironment, SecretAnswer } from "../environment.ts";
import { ApiError } from "../errors.ts";
import { limitBody } from "../body/body.ts";
import { doOnce } from "../idempotency/once.ts";
import { type Access, checkAccess, createRouter } from "../route.ts";
import { type RemoteName, SERVICES } from "../services.ts";
import { toAnswer } from "./answer.ts";
import { requestHeaders } from "./headers.ts";
import { IDENTITY_HEADER, signCaller } from "./identity.ts";
import type { Upstream } from "./upstream.ts";

/** A service that is another process: where it is, and what signs the gateway's word to it. */
export interface Remote {
  readonly service: RemoteName;
  readonly upstream: Upstream;
  readonly secret: Uint8Array;
}

/** What two servers may read as two different paths would pass one's check and reach the other's secret. */
const AMBIGUOUS = /%2f|%5c|%00|%2e|\/\/|;|\\|\/\.{1,2}(?:\/|$)|.\/$/i;

/**
 * Hands every request below a service's paths on to it. A route that the service's own declarations name needs the access
 * that they say; any other path needs the service's read scope to be read and its write scope for all else.
 * @param declared The routes as they would be served in this process.
 */
export function proxyRoutes(
  remote: Remote, declared: readonly OpenAPIHono<GatewayEnvironment>[], deps: { readonly clock: Clock },
): OpenAPIHono<GatewayEnvironment> {
  const router = createRouter();
  const { resource, mounts } = SERVICES[remote.service];
  const hand = (c: Context<GatewayEnvironment>) => handOn(c, remote, deps.clock);
  for (const { method, path, access, secret } of declaredRoutes(declared)) {
    const pattern = path.replaceAll(/\/{([^{}]+)}/g, "/:$1");
    router.on([method.toUpperCase()], [pattern], checkAccess(access), limitBody, doOnce(secret), hand);
  }
  // What such a path answers is not known here, so it is taken for a secret.
  const once = doOnce("made");
  for (const mount of mounts) {
    for (const path of [mount, `${mount}/*`]) {
      router.on(["GET", "HEAD"], [path], checkAccess(`${resource}:read`), hand);
      router.all(path, checkAccess(`${resource}:write`), limitBody, once, hand);
    }
  }
  return router;
}

interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
  readonly access: Access;
  readonly secret: SecretAnswer | null;
}

/** What `declareRoute` has written down of each route. */
function declaredRoutes(declared: readonly OpenAPIHono<GatewayEnvironment>[]): readonly DeclaredRoute[] {
  return declared.flatMap((router) => router.openAPIRegistry.definitions).flatMap((definition) => {
    if (definition.type !== "route") return [];
    const { method, path, "x-access": access, "x-secret": secret = null } = definition.route as typeof definition.route & {
      readonly "x-access"?: Access; readonly "x-secret"?: SecretAnswer;
    };
    return access === undefined ? [] : [{ method, path, access, secret }];
  });
}

async function handOn(c: Context<GatewayEnvironment>, { service, upstream, secret }: Remote, clock: Clock): Promise<Response> {
  const { raw } = c.req;
  c.set("isPlain", true);
  const url = new URL(raw.url);
  // The path by which the access was found. URL's own is another one where there are dots in it.
  const path = pathAtService(c.req.path);
  const { peer } = c.env;
  const identity = typeof c.var.identity === "object" ? c.var.identity : null;
  const signed = await signCaller({ identity, peer, requestId: c.var.requestId }, { service, secret, clock });
  const headers = requestHeaders(raw.headers, {
    "x-forwarded-for": peer.address, "x-forwarded-host": url.host, "x-forwarded-proto": peer.secure ? "https" : "http",
    "x-request-id": c.var.requestId, ...(signed === null ? {} : { [IDENTITY_HEADER]: signed }),
  });
  const body = await bodyOf(c);
  const answer = await upstream.request({ method: raw.method, path: `${path}${url.search}`, headers, body, signal: raw.signal });
  const { status, headers: answered, body: content } = await toAnswer(answer, {
    name: service, origin: upstream.origin, isHead: raw.method === "HEAD",
  });
  // Not the answer itself: headers that were set before would be lost.
  return c.newResponse(content, { status: status as StatusCode, headers: Object.fromEntries(answered) });
}

/** The body as it comes in, or as it was read for a request that is done once. */
async function bodyOf({ req }: Context<GatewayEnvironment>): Promise<Readable | null> {
  if (req.bodyCache.arrayBuffer !== undefined) return Readable.from(Buffer.from(await req.arrayBuffer()));
  return req.raw.body === null ? null : Readable.fromWeb(req.raw.body as NodeStream<Uint8Array>);
}

/**
 * One spelling of each path for the service, whichever of the two the client used.
 * @throws ApiError BAD_REQUEST for a path that is not read in one way only.
 */
export function pathAtService(path: string): string {
  if (AMBIGUOUS.test(path)) throw new ApiError("BAD_REQUEST", "the path has more than one reading");
  return path.replace(/^\/api(?!\/v1\/)/, "/api/v1");
}
