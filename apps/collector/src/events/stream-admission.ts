import { STREAM_EVENTS, STREAM_PATH } from "@lanthorn/contract";
import * as z from "zod";
import { allowanceHeaders, callerOf, type Tiers } from "../gateway/app.ts";
import type { Authentication } from "../gateway/authentication.ts";
import { type Identity, isIdentity } from "../gateway/environment.ts";
import { ApiError, forbidden, notFound, rateLimited } from "../gateway/errors.ts";
import type { OnUpgrade } from "../gateway/http/listeners.ts";
import type { RateLimiter } from "../gateway/limits/rate-limit.ts";
import { badRequest } from "../gateway/route.ts";
import type { LiveEvents } from "./live.ts";

/** Who asks for a stream, before it is decided. */
export interface StreamCaller {
  readonly url: URL;
  /** Null without a token; a text says why a token does not count. */
  readonly identity: Identity | string | null;
  readonly allowance: Awaited<ReturnType<RateLimiter["take"]>>;
  /** For whatever is answered to the request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A stream that may be opened. */
export interface AdmittedStream {
  readonly identity: Identity;
  readonly query: StreamQuery;
  /** The last sequence that the client has: its own word, or where the log was when the stream was admitted. */
  readonly since: number;
}

/** What deciding on a stream needs. */
export interface StreamAdmissionDependencies {
  readonly authentication: Pick<Authentication, "byToken" | "byTicket">;
  readonly siteExists: (tenantId: string, siteId: string) => Promise<boolean>;
  readonly live: Pick<LiveEvents, "last">;
  readonly limiter: RateLimiter;
  readonly tiers: Tiers;
}

/** The scope that a stream needs, as long as it lasts. */
export const STREAM_SCOPE = "devices:read";

const StreamQuery = z.object({
  since: z.string().regex(/^\d{1,15}$/, "a sequence number").transform(Number).optional(),
  events: z.string().transform((text) => text.split(",").filter(Boolean))
    .pipe(z.array(z.enum(STREAM_EVENTS, { error: `unknown; there are ${STREAM_EVENTS.join(", ")}` }))).optional(),
  site_id: z.uuid().optional(),
});
/** What of the events a client wants. */
export type StreamQuery = z.infer<typeof StreamQuery>;

/** Finds out who asks, by ticket or token, and counts the request. A known caller's connection is counted as one. */
export async function meetCaller(
  { request, peer, connection }: Pick<Parameters<OnUpgrade>[0], "request" | "peer" | "connection">, deps: StreamAdmissionDependencies,
): Promise<StreamCaller> {
  const url = parseTarget(request.url);
  const identity = await identify(url, request.headers.authorization, deps.authentication);
  if (isIdentity(identity)) connection.known();
  const { caller, tier, shared } = callerOf(identity, peer, deps.tiers);
  const allowance = await deps.limiter.take(caller, tier, shared);
  return { url, identity, allowance, headers: allowanceHeaders(allowance) };
}

/**
 * Decides whether the caller may have the stream, and from where: whatever happens after the answer to the upgrade is on it.
 * @throws ApiError RATE_LIMITED; UNAUTHORIZED; NOT_FOUND for another path or site; FORBIDDEN without the scope; BAD_REQUEST.
 */
export async function admitStream(
  { url, identity, allowance }: StreamCaller, { siteExists, live }: Pick<StreamAdmissionDependencies, "siteExists" | "live">,
): Promise<AdmittedStream> {
  if (!allowance.allowed) throw rateLimited("too many requests", allowance.retryAfterMs);
  const bearer = checkBearer(identity, url);
  const query = StreamQuery.safeParse(Object.fromEntries(url.searchParams));
  if (!query.success) throw badRequest(query.error.issues);
  const { site_id: siteId } = query.data;
  if (siteId !== undefined && !(await siteExists(bearer.tenantId, siteId))) throw notFound("site");
  return { identity: bearer, query: query.data, since: query.data.since ?? (await live.last(bearer.tenantId)) };
}

async function identify(
  { pathname, searchParams }: URL, authorization: string | undefined, { byTicket, byToken }: StreamAdmissionDependencies["authentication"],
): Promise<Identity | string | null> {
  const ticket = searchParams.get("ticket");
  if (ticket !== null && pathname === STREAM_PATH) return byTicket(ticket);
  const token = searchParams.get("token") ?? /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  return token === undefined ? null : byToken(token);
}

/** @throws ApiError UNAUTHORIZED, NOT_FOUND for another path, or FORBIDDEN. */
function checkBearer(identity: Identity | string | null, { pathname }: URL): Identity {
  if (!isIdentity(identity)) throw new ApiError("UNAUTHORIZED", identity ?? "a token is needed: ?token=<access_token>, or a ticket");
  if (pathname !== STREAM_PATH) throw new ApiError("NOT_FOUND", "there is no WebSocket here");
  if (!identity.scopes.has(STREAM_SCOPE)) throw forbidden(`this needs the scope ${STREAM_SCOPE}`, STREAM_SCOPE);
  return identity;
}

/** A target that is no path is nobody's, like one that is not served. */
function parseTarget(target: string | undefined): URL {
  const base = "http://collector";
  return URL.canParse(target ?? "/", base) ? new URL(target ?? "/", base) : new URL(base);
}
