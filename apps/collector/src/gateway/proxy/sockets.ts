import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type Clock, createId, describeError, type Log } from "@lanthorn/runtime";
import { allowanceHeaders, callerOf, type Tiers } from "../app.ts";
import type { Authentication } from "../authentication.ts";
import type { Identity, Peer } from "../environment.ts";
import { ApiError, rateLimited } from "../errors.ts";
import { endWithError, type OnUpgrade } from "../listeners.ts";
import type { RateLimiter } from "../rate-limit.ts";
import { SERVICES } from "../services.ts";
import { requestHeaders } from "./headers.ts";
import { IDENTITY_HEADER, signCaller } from "./identity.ts";
import { pathAtService, type Remote } from "./routes.ts";

export interface ProxiedSockets {
  /** @returns False for an upgrade that is not for a service behind the gateway. */
  take(upgrade: Parameters<OnUpgrade>[0]): boolean;
  /** Cuts all of them. */
  close(): void;
}

interface Dependencies {
  readonly remotes: readonly Remote[];
  readonly authentication: Pick<Authentication, "byToken" | "byKey">;
  readonly limiter: RateLimiter;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly log: Log;
}

const OPEN_WITHIN_MS = 10_000;
const MOST_SOCKETS = 1000;

/** Connects WebSockets below a service's paths with the service, byte for byte, after the same checks as any request. */
export function createProxiedSockets(deps: Dependencies): ProxiedSockets {
  const open = new Set<Duplex>();

  const connect = async ({ request, socket, head, peer }: Parameters<OnUpgrade>[0], remote: Remote, url: URL): Promise<void> => {
    const identity = await identify(request, url, deps.authentication);
    const { caller, tier } = callerOf(identity, peer, deps.tiers);
    const allowance = await deps.limiter.take(caller, tier);
    const common = allowanceHeaders(allowance);
    if (!allowance.allowed) return endWithError(socket, rateLimited("too many requests", allowance.retryAfterMs), common);
    const required = `${SERVICES[remote.service].resource}:read`;
    const path = pathAtService((request.url ?? "").split("?", 1)[0] ?? "");
    if (identity === null || typeof identity === "string") {
      return endWithError(socket, new ApiError("UNAUTHORIZED", identity ?? "a token is needed"), common);
    }
    if (!identity.scopes.has(required)) {
      return endWithError(socket, new ApiError("FORBIDDEN", `this needs the scope ${required}`, { details: { required } }), common);
    }
    if (open.size >= MOST_SOCKETS) {
      return endWithError(socket, new ApiError("SERVICE_UNAVAILABLE", "no more streams can be served now"), common);
    }
    const headers = await headersFor(request, { identity, peer, remote, clock: deps.clock });
    // A token in a URL ends up in logs: the service gets the gateway's word instead.
    url.searchParams.delete("token");
    bridge({ socket, head, path: `${path}${url.search}`, headers, remote });
    return undefined;
  };

  const bridge = (way: {
    readonly socket: Duplex; readonly head: Buffer; readonly path: string; readonly headers: Record<string, string>;
    readonly remote: Remote;
  }) => {
    const { socket, head, remote } = way;
    const outgoing = remote.upstream.upgrade(way.path, way.headers);
    const refuse = (error: ApiError) => {
      outgoing.destroy();
      if (socket.writable) endWithError(socket, error);
    };
    const { service } = remote;
    const cancel = deps.clock.after(OPEN_WITHIN_MS, () =>
      refuse(new ApiError("SERVICE_UNAVAILABLE", `the service ${service} did not answer in time`)));
    open.add(socket);
    socket.once("close", () => {
      cancel();
      open.delete(socket);
      outgoing.destroy();
    });
    outgoing.once("error", (cause) => {
      cancel();
      deps.log.debug({ service, reason: describeError(cause) }, "a stream could not be handed on");
      refuse(new ApiError("BAD_GATEWAY", `the service ${service} cannot be reached`));
    });
    outgoing.once("response", (response) => {
      cancel();
      response.resume();
      const status = response.statusCode ?? 502;
      refuse(status === 503
        ? new ApiError("SERVICE_UNAVAILABLE", `the service ${service} is not ready`)
        : new ApiError(status === 404 ? "NOT_FOUND" : "BAD_GATEWAY", `the service ${service} opened no stream`));
    });
    outgoing.once("upgrade", (response, far, farHead) => {
      cancel();
      const lines = response.rawHeaders.flatMap((name, index, all) => (index % 2 === 0 ? [`${name}: ${all[index + 1]}\r\n`] : []));
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`);
      if (farHead.length > 0) socket.write(farHead);
      if (head.length > 0) far.write(head);
      for (const [one, other] of [[socket, far], [far, socket]] as const) {
        one.on("error", () => other.destroy());
        one.once("close", () => other.destroy());
        one.pipe(other);
      }
    });
  };

  return {
    take(upgrade) {
      const url = parseTarget(upgrade.request);
      const remote = url && deps.remotes.find(({ service }) => isBelow(url.pathname, SERVICES[service].mounts));
      if (!url || !remote) return false;
      upgrade.socket.on("error", () => upgrade.socket.destroy());
      connect(upgrade, remote, url).catch((error: unknown) => {
        if (!(error instanceof ApiError)) deps.log.error({ reason: describeError(error) }, "a stream could not be handed on");
        endWithError(upgrade.socket, error instanceof ApiError ? error : new ApiError("INTERNAL_ERROR", "the stream could not be opened"));
      });
      return true;
    },
    close() {
      for (const socket of open) socket.destroy();
    },
  };
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
