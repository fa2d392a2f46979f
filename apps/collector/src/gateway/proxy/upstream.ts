import { Agent as HttpAgent, type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest, type ClientRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { type Clock, describeError } from "@lanthorn/runtime";
import { ApiError } from "../errors.ts";

/** A service that runs as another process. */
export interface UpstreamOptions {
  /** As people and errors call it. */
  readonly name: string;
  /** Scheme, host and port, and a path that goes before every other where there is one. */
  readonly url: string;
  /** Who has signed its certificate, in PEM, where that is nobody whom the machine trusts anyway. */
  readonly ca: string | null;
  /** From the request to the head of the answer. */
  readonly timeoutMs: number;
}

interface UpstreamRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Readable | null;
  /** Of who waits for the answer: what it aborts for is given up here as well. */
  readonly signal: AbortSignal;
}

/** A client of one service behind the gateway. It keeps connections open and reuses them. */
export interface Upstream {
  readonly name: string;
  readonly origin: string;
  /** @throws ApiError BAD_GATEWAY where it cannot be reached, SERVICE_UNAVAILABLE where it does not answer in time. */
  request(request: UpstreamRequest): Promise<IncomingMessage>;
  /** Begins a request that asks for another protocol; the caller takes `upgrade`, `response` and `error` of it. */
  upgrade(path: string, headers: OutgoingHttpHeaders): ClientRequest;
  /** Whether it says that it is well. */
  health(): Promise<{ readonly status: "ok" | "degraded"; readonly detail: string }>;
  close(): void;
}

/** A service in the same network has accepted a connection within milliseconds, or is not there. */
const CONNECT_MS = 5000;
/** An answer that stands still this long is over. */
const IDLE_MS = 60_000;
const HEALTH_MS = 2000;
/** Connections to one service, and requests that wait for one. */
const MAX_SOCKETS = 128;
const MAX_IN_FLIGHT = 512;

/**
 * Opens nothing yet. At most 128 connections and 512 requests in flight; one more is refused with SERVICE_UNAVAILABLE.
 * @param deps.idleMs Longest pause within an answer; 60 s where left out.
 */
export function createUpstream(options: UpstreamOptions, deps: { readonly clock: Clock; readonly idleMs?: number }): Upstream {
  const { name } = options;
  const url = new URL(options.url);
  const isSecure = url.protocol === "https:";
  const pool = { keepAlive: true, maxSockets: MAX_SOCKETS };
  const agent = isSecure ? new HttpsAgent({ ...pool, ...(options.ca === null ? {} : { ca: options.ca }) }) : new HttpAgent(pool);
  const prefix = url.pathname.replace(/(?<!\/)\/+$/, "");
  let underWay = 0;

  const begin = (method: string, path: string, headers: OutgoingHttpHeaders): ClientRequest =>
    (isSecure ? httpsRequest : httpRequest)({
      protocol: url.protocol, hostname: url.hostname.replace(/^\[|\]$/g, ""), port: url.port, method, path: `${prefix}${path}`, headers,
      agent,
    });

  const unreachable = (cause: unknown) => new ApiError("BAD_GATEWAY", `the service ${name} cannot be reached`, { cause });

  const send = (
    { method, path, headers, body, signal }: UpstreamRequest, timeoutMs: number,
  ): Promise<IncomingMessage> => new Promise((resolve, reject) => {
    const request = begin(method, path, headers);
    const limits = [
      deps.clock.after(timeoutMs, () => request.destroy(new ApiError("SERVICE_UNAVAILABLE", `the service ${name} did not answer in time`))),
    ];
    const abandon = () => request.destroy(new ApiError("SERVICE_UNAVAILABLE", "the client has closed the connection"));
    const settle = () => {
      for (const cancel of limits) cancel();
    };
    if (signal.aborted) abandon();
    signal.addEventListener("abort", abandon, { once: true });
    request.once("socket", (socket) => {
      if (!socket.connecting) return;
      const cancel = deps.clock.after(CONNECT_MS, () => request.destroy(unreachable(new Error("no connection in time"))));
      limits.push(cancel);
      socket.once(isSecure ? "secureConnect" : "connect", cancel);
    });
    request.once("response", (response) => {
      settle();
      response.setTimeout(deps.idleMs ?? IDLE_MS, () => response.destroy(new Error("the answer has stalled")));
      response.once("close", () => signal.removeEventListener("abort", abandon));
      resolve(response);
    });
    request.once("error", (error: NodeJS.ErrnoException) => {
      settle();
      signal.removeEventListener("abort", abandon);
      body?.destroy();
      // A kept connection that the service closed in the same moment: nothing has reached it.
      const mayTryAgain = error.code === "ECONNRESET" && request.reusedSocket && body === null && (method === "GET" || method === "HEAD");
      if (mayTryAgain) resolve(send({ method, path, headers, body, signal }, timeoutMs));
      else reject(error instanceof ApiError ? error : unreachable(error));
    });
    if (body === null) request.end();
    else body.once("error", (error) => request.destroy(error)).pipe(request);
  });

  return {
    name,
    origin: url.origin,
    async request(request) {
      if (underWay >= MAX_IN_FLIGHT) {
        throw new ApiError("SERVICE_UNAVAILABLE", `the service ${name} is overloaded`, { headers: { "retry-after": "1" } });
      }
      underWay += 1;
      try {
        return await send(request, options.timeoutMs);
      } finally {
        underWay -= 1;
      }
    },
    upgrade(path, headers) {
      const request = begin("GET", path, headers);
      request.end();
      return request;
    },
    health: () => healthOf((path) => send({ method: "GET", path, headers: {}, body: null, signal: new AbortController().signal }, HEALTH_MS)),
    close: () => agent.destroy(),
  };
}

async function healthOf(get: (path: string) => Promise<IncomingMessage>): Promise<Awaited<ReturnType<Upstream["health"]>>> {
  try {
    const answer = await get("/health");
    answer.resume();
    const isWell = (answer.statusCode ?? 500) < 500;
    return { status: isWell ? "ok" : "degraded", detail: isWell ? "answers" : "is not ready" };
  } catch (error) {
    return { status: "degraded", detail: describeError(error).startsWith("the service") ? "cannot be reached" : "does not answer" };
  }
}
