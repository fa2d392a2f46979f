import { type StreamEvent, STREAM_EVENTS } from "@lanthorn/contract";
import type { Clock, Log } from "@lanthorn/runtime";
import { WebSocket, WebSocketServer } from "ws";
import * as z from "zod";
import { allowanceHeaders, callerOf, type Tiers } from "../gateway/app.ts";
import type { Authentication } from "../gateway/authentication.ts";
import type { Identity, Peer } from "../gateway/environment.ts";
import { ApiError, rateLimited } from "../gateway/errors.ts";
import { endWithError, type OnUpgrade } from "../gateway/listeners.ts";
import type { RateLimiter } from "../gateway/rate-limit.ts";
import type { LiveEvents } from "./live.ts";

export interface StreamSockets {
  readonly onUpgrade: OnUpgrade;
  /** How many streams there are now. */
  open(): number;
  /** Ends every stream with 1001, refuses new ones, and cuts off who has not answered after two seconds. */
  close(): Promise<void>;
}

interface StreamSocketDependencies {
  readonly live: LiveEvents;
  readonly authentication: Pick<Authentication, "byToken" | "byTicket" | "again">;
  readonly limiter: RateLimiter;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly log: Log;
}

/** Close codes: 1001, 1011 and 1013 as registered (RFC 6455 section 7.4), 44xx as the HTTP status they stand for. */
const CLOSE = { goingAway: 1001, failed: 1011, tryAgainLater: 1013, badRequest: 4400, unauthorized: 4401, forbidden: 4403 } as const;

const PATH = "/ws/events";
const SCOPE = "devices:read";
const PING_EVERY_MS = 30_000;
/** A consumer that is this far behind is closed: it resumes from the log, which is the better place to wait. */
const MOST_BEHIND_BYTES = 1024 * 1024;
/** While catching up, as much is under way at once and no more. */
const CATCH_UP_BYTES = 256 * 1024;
const MOST_STREAMS = 1000;
const CLOSE_WITHIN_MS = 2000;
/** Clients have nothing to say; a ping or a close is small. */
const LARGEST_MESSAGE_BYTES = 4096;

const StreamQuery = z.object({
  since: z.string().regex(/^\d{1,15}$/, "a sequence number").transform(Number).optional(),
  events: z.string().transform((text) => text.split(",").filter(Boolean)).pipe(z.array(z.enum(STREAM_EVENTS))).optional(),
  site_id: z.uuid().optional(),
});

/** `/ws/events?token=…&since=…&events=…&site_id=…` on every listener; instead of `token`, a single-use `ticket`. */
export function createStreamSockets(deps: StreamSocketDependencies): StreamSockets {
  const server = new WebSocketServer({ noServer: true, clientTracking: true, perMessageDeflate: false, maxPayload: LARGEST_MESSAGE_BYTES });
  let closed = false;

  const accept = async ({ request, socket, head, peer }: Parameters<OnUpgrade>[0]): Promise<void> => {
    const url = parseTarget(request.url);
    const query = StreamQuery.safeParse(Object.fromEntries(url.searchParams));
    const identity = await identify(url, request.headers.authorization);
    const refusal = await refuse({ url, peer, identity });
    if (refusal) {
      endWithError(socket, refusal.error, refusal.headers);
      return;
    }
    // A browser is told nothing of an upgrade that was refused, but does learn the code with which a socket was closed.
    server.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("error", (error) => deps.log.debug({ reason: error.message }, "stream connection failed"));
      if (identity === null || typeof identity === "string") webSocket.close(CLOSE.unauthorized, identity ?? "a token is needed");
      else if (!identity.scopes.has(SCOPE)) webSocket.close(CLOSE.forbidden, `this needs the scope ${SCOPE}`);
      else if (!query.success) webSocket.close(CLOSE.badRequest, reasonOf(query.error));
      else serve(webSocket, identity, query.data);
    });
  };

  const identify = ({ pathname, searchParams }: URL, authorization = ""): Promise<Identity | string> | null => {
    const ticket = searchParams.get("ticket");
    if (ticket !== null && pathname === PATH) return deps.authentication.byTicket(ticket);
    const token = searchParams.get("token") ?? /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return token === undefined ? null : deps.authentication.byToken(token);
  };

  const refuse = async (upgrade: { readonly url: URL; readonly peer: Peer; readonly identity: Identity | string | null }) => {
    const { caller, tier } = callerOf(upgrade.identity, upgrade.peer, deps.tiers);
    const allowance = await deps.limiter.take(caller, tier);
    const headers = allowanceHeaders(allowance);
    if (!allowance.allowed) return { headers, error: rateLimited("too many requests", allowance.retryAfterMs) };
    if (upgrade.url.pathname !== PATH) {
      const known = upgrade.identity !== null && typeof upgrade.identity !== "string";
      return {
        headers, error: known ? new ApiError("NOT_FOUND", "there is no WebSocket here") : new ApiError("UNAUTHORIZED", "a token is needed"),
      };
    }
    if (closed || server.clients.size >= MOST_STREAMS) {
      return { headers, error: new ApiError("SERVICE_UNAVAILABLE", "no more streams can be served now") };
    }
    return null;
  };

  const serve = (webSocket: WebSocket, identity: Identity, query: z.infer<typeof StreamQuery>): void => {
    let answered = true;
    const ping = () => {
      if (!answered) {
        webSocket.terminate();
        return;
      }
      answered = false;
      webSocket.ping();
      // A token may be revoked, or its user's role changed, while its stream is open.
      void checkAgain();
    };
    const checkAgain = async () => {
      try {
        const again = await deps.authentication.again(identity);
        if (typeof again === "string") webSocket.close(CLOSE.unauthorized, again);
        else if (!again.scopes.has(SCOPE)) webSocket.close(CLOSE.forbidden, `this needs the scope ${SCOPE}`);
      } catch {
        webSocket.close(CLOSE.failed, "the token could not be checked");
      }
    };
    const expired = () => webSocket.close(CLOSE.unauthorized, "the token has expired");
    // A key may end later than a timer can run, or never: that is seen with the pings.
    const expiresAt = identity.key ? null : identity.expiresAt;
    const endings = [
      deps.clock.every(PING_EVERY_MS, ping),
      ...(expiresAt === null ? [] : [deps.clock.after(Math.max(0, expiresAt - deps.clock.now()), expired)]),
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
        endWithError(upgrade.socket, new ApiError("INTERNAL_ERROR", "the stream could not be opened"));
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
      if (webSocket.bufferedAmount > MOST_BEHIND_BYTES) webSocket.close(CLOSE.tryAgainLater, "too far behind: resume with since");
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

/** At most 123 bytes fit into a close frame (RFC 6455 section 5.5). */
function reasonOf(error: z.ZodError): string {
  const issue = error.issues[0];
  return `${issue?.path.join(".") ?? "query"}: ${issue?.message ?? "not valid"}`.slice(0, 100);
}
