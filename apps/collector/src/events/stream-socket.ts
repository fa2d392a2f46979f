import type { IncomingMessage } from "node:http";
import { type StreamEvent, STREAM_EVENTS } from "@lanthorn/contract";
import type { Clock, Log } from "@lanthorn/runtime";
import { WebSocket, WebSocketServer } from "ws";
import * as z from "zod";
import { allowanceHeaders, callerOf, type Tiers } from "../gateway/app.ts";
import type { Authentication } from "../gateway/authentication.ts";
import { type Identity, isIdentity } from "../gateway/environment.ts";
import { ApiError, forbidden, notFound, rateLimited } from "../gateway/errors.ts";
import type { OnUpgrade } from "../gateway/listeners.ts";
import type { RateLimiter } from "../gateway/rate-limit.ts";
import { endWithError } from "../gateway/refusals.ts";
import { badRequest } from "../gateway/route.ts";
import type { StreamSessions } from "../gateway/stream-sessions.ts";
import type { LiveEvents } from "./live.ts";

interface StreamSockets {
  readonly onUpgrade: OnUpgrade;
  /** How many streams there are now. */
  open(): number;
  /** Ends every stream with 1001, refuses new ones, and cuts off who has not answered after two seconds. */
  close(): Promise<void>;
}

interface StreamSocketDependencies {
  readonly live: LiveEvents;
  readonly authentication: Pick<Authentication, "byToken" | "byTicket">;
  readonly sessions: Pick<StreamSessions, "open">;
  readonly siteExists: (tenantId: string, siteId: string) => Promise<boolean>;
  readonly limiter: RateLimiter;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly log: Log;
}

/** Close codes as registered (RFC 6455 section 7.4); 4401 as the HTTP status that it stands for. */
const CLOSE = { goingAway: 1001, failed: 1011, tryAgainLater: 1013 } as const;

const PATH = "/ws/events";
const SCOPE = "devices:read";
const PING_EVERY_MS = 30_000;
/** A consumer that is this far behind is closed: it resumes from the log, which is the better place to wait. */
const MAX_BEHIND_BYTES = 1024 * 1024;
/** While catching up, as much is under way at once and no more. */
const CATCH_UP_BYTES = 256 * 1024;
const CLOSE_WITHIN_MS = 2000;
/** Clients have nothing to say; a ping or a close is small. */
const MAX_MESSAGE_BYTES = 4096;

const StreamQuery = z.object({
  since: z.string().regex(/^\d{1,15}$/, "a sequence number").transform(Number).optional(),
  events: z.string().transform((text) => text.split(",").filter(Boolean))
    .pipe(z.array(z.enum(STREAM_EVENTS, { error: `unknown; there are ${STREAM_EVENTS.join(", ")}` }))).optional(),
  site_id: z.uuid().optional(),
});
type StreamQuery = z.infer<typeof StreamQuery>;

/**
 * `/ws/events?token=…&since=…&events=…&site_id=…` on every listener; instead of `token`, a single-use `ticket`. Whatever is wrong
 * with a request is refused before the upgrade, with the status and the envelope that REST has for it.
 */
export function createStreamSockets(deps: StreamSocketDependencies): StreamSockets {
  const server = new WebSocketServer({ noServer: true, clientTracking: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  const answerHeaders = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>();
  let closed = false;
  server.on("headers", (lines, request) => {
    for (const [name, value] of Object.entries(answerHeaders.get(request) ?? {})) lines.push(`${name}: ${value}`);
  });
  server.on("wsClientError", (error, socket, request) => {
    endWithError(socket, new ApiError("BAD_REQUEST", `no WebSocket can be opened: ${error.message}`), answerHeaders.get(request));
  });

  const accept = async (upgrade: Parameters<OnUpgrade>[0]): Promise<void> => {
    const { request, socket, head, peer } = upgrade;
    const url = parseTarget(request.url);
    const identity = await identify(url, request.headers.authorization);
    if (isIdentity(identity)) upgrade.connection.known();
    const { caller, tier, shared } = callerOf(identity, peer, deps.tiers);
    const allowance = await deps.limiter.take(caller, tier, shared);
    const headers = allowanceHeaders(allowance);
    answerHeaders.set(request, headers);
    try {
      if (!allowance.allowed) throw rateLimited("too many requests", allowance.retryAfterMs);
      const bearer = checkBearer(identity, url);
      const query = await readQuery(url, bearer);
      if (closed) throw new ApiError("SERVICE_UNAVAILABLE", "the collector stops");
      if (socket.destroyed) return;
      open({ request, socket, head }, bearer, query);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      endWithError(socket, error, headers);
    }
  };

  const identify = ({ pathname, searchParams }: URL, authorization = ""): Promise<Identity | string> | null => {
    const ticket = searchParams.get("ticket");
    if (ticket !== null && pathname === PATH) return deps.authentication.byTicket(ticket);
    const token = searchParams.get("token") ?? /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return token === undefined ? null : deps.authentication.byToken(token);
  };

  const readQuery = async ({ searchParams }: URL, { tenantId }: Identity): Promise<StreamQuery> => {
    const query = StreamQuery.safeParse(Object.fromEntries(searchParams));
    if (!query.success) throw badRequest(query.error.issues);
    const { site_id: siteId } = query.data;
    if (siteId !== undefined && !(await deps.siteExists(tenantId, siteId))) throw notFound("site");
    return query.data;
  };

  const open = (
    { request, socket, head }: Pick<Parameters<OnUpgrade>[0], "request" | "socket" | "head">, identity: Identity, query: StreamQuery,
  ): void => {
    let webSocket: WebSocket | null = null;
    const place = deps.sessions.open({
      identity, scope: SCOPE, onEnd: ({ code, reason }) => (webSocket ? webSocket.close(code, reason) : socket.destroy()),
    });
    if (place instanceof ApiError) throw place;
    socket.once("close", place);
    server.handleUpgrade(request, socket, head, (opened) => {
      webSocket = opened;
      opened.on("error", (error) => deps.log.debug({ reason: error.message }, "stream connection failed"));
      serve(opened, identity, query);
    });
  };

  const serve = (webSocket: WebSocket, identity: Identity, query: StreamQuery): void => {
    let answered = true;
    const ping = () => {
      if (!answered) {
        webSocket.terminate();
        return;
      }
      answered = false;
      webSocket.ping();
    };
    const endings = [
      deps.clock.every(PING_EVERY_MS, ping),
      deps.live.subscribe(
        {
          tenantId: identity.tenantId, since: query.since ?? null, siteId: query.site_id ?? null,
          events: query.events?.length ? new Set<StreamEvent>(query.events) : null,
        },
        consumerOf(webSocket),
      ),
    ];
    webSocket.on("pong", () => {
      answered = true;
    });
    webSocket.on("close", () => {
      for (const end of endings) end();
    });
  };

  return {
    open: () => server.clients.size,
    onUpgrade(upgrade) {
      upgrade.socket.on("error", () => upgrade.socket.destroy());
      accept(upgrade).catch((error: unknown) => {
        deps.log.error({ reason: error instanceof Error ? error.message : String(error) }, "stream could not be opened");
        endWithError(
          upgrade.socket, new ApiError("INTERNAL_ERROR", "the stream could not be opened"), answerHeaders.get(upgrade.request),
        );
      });
    },
    close() {
      closed = true;
      for (const webSocket of server.clients) webSocket.close(CLOSE.goingAway, "the collector stops");
      return new Promise((resolve) => {
        const cancel = deps.clock.after(CLOSE_WITHIN_MS, () => {
          for (const webSocket of server.clients) webSocket.terminate();
        });
        server.close(() => {
          cancel();
          resolve();
        });
      });
    },
  };
}

/** @throws ApiError UNAUTHORIZED, NOT_FOUND for another path, or FORBIDDEN. */
function checkBearer(identity: Identity | string | null, { pathname }: URL): Identity {
  if (!isIdentity(identity)) throw new ApiError("UNAUTHORIZED", identity ?? "a token is needed: ?token=<access_token>, or a ticket");
  if (pathname !== PATH) throw new ApiError("NOT_FOUND", "there is no WebSocket here");
  if (!identity.scopes.has(SCOPE)) throw forbidden(`this needs the scope ${SCOPE}`, SCOPE);
  return identity;
}

/** A target that is no path is nobody's, like one that is not served. */
function parseTarget(target: string | undefined): URL {
  const base = "http://collector";
  return URL.canParse(target ?? "/", base) ? new URL(target ?? "/", base) : new URL(base);
}

function consumerOf(webSocket: WebSocket) {
  let drained: (() => void) | null = null;
  const sent = () => {
    if (webSocket.readyState === WebSocket.OPEN && webSocket.bufferedAmount > CATCH_UP_BYTES) return;
    drained?.();
    drained = null;
  };
  webSocket.on("close", sent);
  return {
    deliver(frame: string) {
      if (webSocket.readyState !== WebSocket.OPEN) return;
      if (webSocket.bufferedAmount > MAX_BEHIND_BYTES) webSocket.close(CLOSE.tryAgainLater, "too far behind: resume with since");
      else webSocket.send(frame, sent);
    },
    drained(): Promise<void> {
      return new Promise((resolve) => {
        drained = resolve;
        sent();
      });
    },
    failed: () => webSocket.close(CLOSE.failed, "the stream cannot be read now: resume with since"),
  };
}
