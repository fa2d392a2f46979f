import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type Clock, createId, describeError, type Log } from "@lanthorn/runtime";
import { allowanceHeaders, callerOf, type Tiers } from "../app.ts";
import type { Authentication } from "../authentication.ts";
import { type Identity, isIdentity, type Peer } from "../environment.ts";
import { ApiError, forbidden, rateLimited } from "../errors.ts";
import type { OnUpgrade } from "../http/listeners.ts";
import type { RateLimiter } from "../limits/rate-limit.ts";
import { endWithError } from "../http/refusals.ts";
import { SERVICES } from "../services.ts";
import type { StreamEnd, StreamSessions } from "../stream-sessions.ts";
import { bridgeFrames } from "./bridge.ts";
import { requestHeaders } from "./headers.ts";
import { IDENTITY_HEADER, signCaller } from "./identity.ts";
import { pathAtService, type Remote } from "./routes.ts";

interface ProxiedSockets {
  /** @returns False for an upgrade that is not for a service behind the gateway. */
  take(upgrade: Parameters<OnUpgrade>[0]): boolean;
  /** Cuts all of them. */
  close(): void;
}

interface Dependencies {
  readonly remotes: readonly Remote[];
  readonly authentication: Pick<Authentication, "byToken" | "byKey">;
  readonly sessions: Pick<StreamSessions, "open">;
  readonly limiter: RateLimiter;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly log: Log;
}

const OPEN_WITHIN_MS = 10_000;

type AnswerHeaders = Readonly<Record<string, string>>;

/**
 * Connects WebSockets below a service's paths with the service, byte for byte, after the same checks as any request. They are
 * made again while it lasts, as for the own stream: it ends with 4401 when its bearer may not have it any more.
 */
export function createProxiedSockets(deps: Dependencies): ProxiedSockets {
  const open = new Set<Duplex>();

  const connect = async (upgrade: Parameters<OnUpgrade>[0], remote: Remote, url: URL): Promise<void> => {
    const { request, socket, peer } = upgrade;
    const identity = await identify(request, url, deps.authentication);
    if (isIdentity(identity)) upgrade.connection.known();
    const { caller, tier, shared } = callerOf(identity, peer, deps.tiers);
    const allowance = await deps.limiter.take(caller, tier, shared);
    const common = allowanceHeaders(allowance);
    try {
      if (!allowance.allowed) throw rateLimited("too many requests", allowance.retryAfterMs);
      const scope = `${SERVICES[remote.service].resource}:read`;
      const path = pathAtService((request.url ?? "").split("?", 1)[0] ?? "");
      if (!isIdentity(identity)) throw new ApiError("UNAUTHORIZED", identity ?? "a token is needed");
      if (!identity.scopes.has(scope)) throw forbidden(`this needs the scope ${scope}`, scope);
      const headers = await headersFor(request, { identity, peer, remote, clock: deps.clock });
      // A token in a URL ends up in logs: the service gets the gateway's word instead.
      url.searchParams.delete("token");
      if (socket.destroyed) return;
      bridge(deps, upgrade, { path: `${path}${url.search}`, headers, remote, identity, scope, common, open });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      endWithError(socket, error, common);
    }
  };

  return {
    take(upgrade) {
      const url = parseTarget(upgrade.request);
      const remote = url && deps.remotes.find(({ service }) => isBelow(url.pathname, SERVICES[service].mounts));
      if (!url || !remote) return false;
      upgrade.socket.on("error", () => upgrade.socket.destroy());
      connect(upgrade, remote, url).catch((error: unknown) => endWithError(upgrade.socket, refusalFor(error, deps.log)));
      return true;
    },
    close() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** Connects an upgrade with the service, once that has switched protocols. @throws ApiError where the bearer may have no more streams. */
function bridge(deps: Dependencies, { socket, head }: Parameters<OnUpgrade>[0], way: {
  readonly path: string; readonly headers: Record<string, string>; readonly remote: Remote;
  readonly identity: Identity; readonly scope: string; readonly common: AnswerHeaders;
  /** Holds the socket while it is connected. */
  readonly open: Set<Duplex>;
}): void {
  const { identity, scope, common, open } = way;
  const { service, upstream } = way.remote;
  let end: (why: StreamEnd) => void = ({ reason }) => refuse(new ApiError("UNAUTHORIZED", reason));
  const place = deps.sessions.open({ identity, scope, onEnd: (why) => end(why) });
  if (place instanceof ApiError) throw place;
  const outgoing = upstream.upgrade(way.path, way.headers);
  const refuse = (error: ApiError) => {
    outgoing.destroy();
    if (socket.writable) endWithError(socket, error, common);
  };
  const cancel = deps.clock.after(OPEN_WITHIN_MS, () =>
    refuse(new ApiError("SERVICE_UNAVAILABLE", `the service ${service} did not answer in time`)));
  open.add(socket);
  socket.once("close", () => {
    cancel();
    place();
    open.delete(socket);
    outgoing.destroy();
  });
  outgoing.once("error", (cause) => {
    cancel();
    deps.log.debug({ service, reason: describeError(cause) }, "a stream could not be forwarded");
    refuse(new ApiError("BAD_GATEWAY", `the service ${service} cannot be reached`));
  });
  outgoing.once("response", (response) => {
    cancel();
    response.resume();
    refuse(unopened(service, response.statusCode ?? 502));
  });
  outgoing.once("upgrade", (response, far, farHead) => {
    cancel();
    socket.write(switchingProtocols(response, common));
    if (head.length > 0) far.write(head);
    const close = bridgeFrames({ near: socket, far, farHead }, deps.clock);
    const isWebSocket = response.headers.upgrade?.toLowerCase() === "websocket";
    // In another protocol there is no word for it.
    end = isWebSocket ? close : () => void socket.destroy();
  });
}

function refusalFor(error: unknown, log: Log): ApiError {
  if (error instanceof ApiError) return error;
  log.error({ reason: describeError(error) }, "a stream could not be forwarded");
  return new ApiError("INTERNAL_ERROR", "the stream could not be opened");
}

/** What a service's answer means that opened no stream. */
function unopened(service: string, status: number): ApiError {
  if (status === 503) return new ApiError("SERVICE_UNAVAILABLE", `the service ${service} is not ready`);
  return new ApiError(status === 404 ? "NOT_FOUND" : "BAD_GATEWAY", `the service ${service} opened no stream`);
}

/** The service's 101, with the gateway's own headers instead of the service's of the same names. */
function switchingProtocols({ rawHeaders }: IncomingMessage, own: AnswerHeaders): string {
  const lines = rawHeaders.flatMap((name, index, all) =>
    (index % 2 === 0 && !name.toLowerCase().startsWith("x-ratelimit-") ? [`${name}: ${all[index + 1]}\r\n`] : []));
  const added = Object.entries(own).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 101 Switching Protocols\r\n${[...lines, ...added].join("")}\r\n`;
}

function parseTarget({ url, headers }: IncomingMessage): URL | null {
  const base = `http://${headers.host ?? "collector"}`;
  return URL.canParse(url ?? "/", base) ? new URL(url ?? "/", base) : null;
}

function isBelow(pathname: string, mounts: readonly string[]): boolean {
  const path = pathname.replace(/^\/api(\/v1(?=\/))?/, "");
  return path !== pathname && mounts.some((mount) => path === mount || path.startsWith(`${mount}/`));
}

/** A browser's WebSocket can send no header: its token is in the query. */
async function identify(
  { headers }: IncomingMessage, { searchParams }: URL, authentication: Dependencies["authentication"],
): Promise<Identity | string | null> {
  const key = headers["x-api-key"];
  if (typeof key === "string") return authentication.byKey(key);
  const token = searchParams.get("token") ?? /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return token === undefined ? null : authentication.byToken(token);
}

async function headersFor(
  { headers }: IncomingMessage, { identity, peer, remote, clock }: {
    readonly identity: Identity; readonly peer: Peer; readonly remote: Remote; readonly clock: Clock;
  },
): Promise<Record<string, string>> {
  const requestId = createId();
  const signed = await signCaller({ identity, peer, requestId }, { service: remote.service, secret: remote.secret, clock });
  const client = new Headers(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as [string, string]])),
  );
  return {
    ...(requestHeaders(client, {}) as Record<string, string>), connection: "Upgrade", upgrade: headers.upgrade ?? "websocket",
    "x-forwarded-for": peer.address, "x-forwarded-host": headers.host ?? "", "x-forwarded-proto": peer.secure ? "https" : "http",
    "x-request-id": requestId, ...(signed === null ? {} : { [IDENTITY_HEADER]: signed }),
  };
}
