import {
  createServer as createHttpServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener, type Server, type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { getRequestListener } from "@hono/node-server";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { KeyAndCertificate } from "../../certificates/authority.ts";
import { peerIdentity, type PeerIdentity } from "../../certificates/peer.ts";
import { CollectorError } from "../../errors.ts";
import type { ClientAddress } from "./address.ts";
import { allowanceHeaders } from "../app.ts";
import type { Connection, Connections } from "./connections.ts";
import { type GatewayEnvironment, type Peer, STRANGER_KEEP_ALIVE_SECONDS } from "../environment.ts";
import { ApiError, errorEnvelope, rateLimited } from "../errors.ts";
import type { Allowance } from "../limits/rate-limit.ts";
import { endWithError, lateRequest, parserRefusal } from "./refusals.ts";

/** A request to become a WebSocket. Whoever gets it answers on the socket or destroys it. */
export type OnUpgrade = (upgrade: {
  readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer; readonly peer: Peer;
  readonly connection: Pick<Connection, "known">;
}) => void;

/** Address of a listener, and whether it speaks HTTPS (`tls`) or plain HTTP (null). */
export interface ListenerOptions {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
  /** Makes it HTTPS that asks for, and does without, a client certificate of `clientAuthority`. */
  readonly tls: (KeyAndCertificate & { readonly clientAuthority: string }) | null;
}

/** A listener that accepts connections. `port` is the actual one, also where 0 was asked for. */
export interface Listener {
  readonly port: number;
  /** From here on the TLS listener shows another certificate; open connections keep theirs. */
  useCertificate(certificate: KeyAndCertificate): void;
  /** Takes nothing new, lets the requests under way finish for at most ten seconds, and closes. */
  close(): Promise<void>;
}

interface ListenerDependencies {
  readonly fetch: (request: Request, bindings: GatewayEnvironment["Bindings"]) => Response | Promise<Response>;
  readonly onUpgrade: OnUpgrade;
  readonly clientAddress: ClientAddress;
  /** Of all listeners together. */
  readonly connections: Connections;
  /** Counts a request that never becomes one, by who is at the other end. */
  readonly takeAllowance: (peer: Peer) => Allowance | Promise<Allowance>;
  /** Called with each request before it is served. */
  readonly onRequest?: (socketAddress: string | undefined, headers: IncomingHttpHeaders) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Request line and headers together. Tokens take under 1 KiB; Node's own 16 KiB, said here so that no flag of the process changes it. */
const HEADER_LIMIT_BYTES = 16_384;
const LIMITS = {
  maxHeaderSize: HEADER_LIMIT_BYTES, headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5000,
  // A request without one is answered by `fetch`'s adapter, with the envelope.
  requireHostHeader: false,
} as const;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** A stranger's requests are small: to log in, to enroll. */
const STRANGER_REQUEST_MS = 10_000;
/** From the request's head to the last byte of the answer; the longest unauthenticated answer is a page of documentation. */
const STRANGER_ANSWER_MS = 60_000;
const FINISH_WITHIN_MS = 10_000;
/**
 * Connections that wait to be accepted; the kernel cuts it to net.core.somaxconn (4096 since Linux 5.4). Over it the kernel drops, and the
 * client asks again 200 ms later, or after a second: with Node's 511 a burst of unknown clients does that to everybody.
 */
const BACKLOG = 4096;

/** @throws CollectorError `listen-failed`, naming the address. */
export async function openListener(options: ListenerOptions, deps: ListenerDependencies): Promise<Listener> {
  const { connections } = deps;
  const peerOf = createPeerOf(deps);
  /** The request that is being made one for `fetch`: the adapter does that at once, and does not say which one failed. */
  let arriving: IncomingMessage | null = null;
  const handle = getRequestListener(
    (request, { incoming }) => deps.fetch(request, {
      peer: peerOf(incoming), connection: connections.of((incoming as IncomingMessage).socket),
    }),
    { errorHandler: (error) => answerBroken(error, arriving && peerOf(arriving), deps) },
  );
  let closing = false;
  const listener: RequestListener = (incoming, outgoing) => {
    deps.onRequest?.(incoming.socket.remoteAddress, incoming.headers);
    const connection = connections.of(incoming.socket);
    const end = connection.begin();
    hurryStranger({ incoming, outgoing, connection, clock: deps.clock }, () => void refuseRaw(incoming.socket, lateRequest(), peerOf(incoming), deps));
    outgoing.once("close", () => {
      end();
      if (closing) setImmediate(() => server.closeIdleConnections());
    });
    arriving = incoming;
    void handle(incoming, outgoing);
    arriving = null;
  };
  const { tls } = options;
  const server: Server = tls === null
    ? createHttpServer(LIMITS, listener)
    : createHttpsServer(
      { ...LIMITS, ...tlsOptions(tls), requestCert: true, rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_TIMEOUT_MS }, listener,
    );
  connections.guard(server);
  server.on("checkExpectation", listener);
  server.on("upgrade", (request, socket, head) => {
    deps.onRequest?.(request.socket.remoteAddress, request.headers);
    const connection = connections.of(request.socket);
    socket.once("close", connection.begin());
    deps.onUpgrade({ request, socket, head, peer: peerOf(request), connection });
  });
  server.on("connect", (request, socket) => {
    void refuseRaw(socket, new ApiError("BAD_REQUEST", "this server is not a proxy: CONNECT is not supported"), peerOf(request), deps);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const refusal = socket.writable ? parserRefusal(error, { headerBytes: HEADER_LIMIT_BYTES }) : null;
    if (refusal === null) socket.destroy();
    else void refuseRaw(socket, refusal, peerOf({ socket: socket as Socket, headers: {} }), deps);
  });
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    useCertificate(certificate) {
      if (tls !== null && "setSecureContext" in server) {
        (server as ReturnType<typeof createHttpsServer>).setSecureContext(
          tlsOptions({ ...certificate, clientAuthority: tls.clientAuthority }),
        );
      }
    },
    close() {
      closing = true;
      return new Promise((resolve) => {
        const cancel = deps.clock.after(FINISH_WITHIN_MS, () => server.closeAllConnections());
        server.close(() => {
          cancel();
          resolve();
        });
      });
    },
  };
}

function tlsOptions(tls: KeyAndCertificate & { readonly clientAuthority: string }) {
  return { key: tls.key, cert: tls.certificate, ca: tls.clientAuthority, minVersion: "TLSv1.2" } as const;
}

function listen(server: Server, { host, port }: ListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error) => reject(new CollectorError("listen-failed", `cannot listen on ${host} port ${port}`, { cause }));
    server.once("error", onError);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off("error", onError);
      resolve();
    });
  });
}

/** Reads a connection's certificate once: many requests come over one connection. */
function createPeerOf(
  deps: Pick<ListenerDependencies, "clientAddress" | "clock">,
): (request: Pick<IncomingMessage, "socket" | "headers">) => Peer {
  const identities = new WeakMap<Socket, PeerIdentity | null>();
  return ({ socket, headers }) => {
    let identity = identities.get(socket);
    if (identity === undefined) {
      identity = socket instanceof TLSSocket ? peerIdentity(socket) : null;
      identities.set(socket, identity);
    }
    const forwardedFor = headers["x-forwarded-for"];
    const probe = identity !== null && identity.expiresAt > deps.clock.now() ? identity : null;
    return {
      address: deps.clientAddress(socket.remoteAddress, Array.isArray(forwardedFor) ? forwardedFor.join(",") : forwardedFor),
      secure: socket instanceof TLSSocket,
      probeId: probe && probe.probeId, ...(probe && { probePublicKey: probe.publicKey }),
    };
  };
}

/** What the adapter could not make a request of: a bad Host header, a target that is no path. */
async function answerBroken(
  error: unknown, peer: Peer | null, { takeAllowance, log }: Pick<ListenerDependencies, "takeAllowance" | "log">,
): Promise<Response> {
  log.debug({ reason: describeError(error) }, "request not readable");
  const allowance = peer && await takeAllowance(peer);
  const refusal = refusalWithin(allowance, new ApiError("BAD_REQUEST", "the request is not readable"));
  const headers = { ...(allowance && allowanceHeaders(allowance)), ...refusal.headers, connection: "close" };
  return Response.json(errorEnvelope(refusal), { status: refusal.status, headers });
}

/** Answers what never becomes a request for `fetch`, straight on its socket. */
async function refuseRaw(
  socket: Duplex, refusal: ApiError, peer: Peer, { takeAllowance, log }: Pick<ListenerDependencies, "takeAllowance" | "log">,
): Promise<void> {
  socket.on("error", () => socket.destroy());
  try {
    const allowance = await takeAllowance(peer);
    endWithError(socket, refusalWithin(allowance, refusal), allowanceHeaders(allowance));
  } catch (error) {
    log.debug({ reason: describeError(error) }, "a request could not be counted");
    endWithError(socket, refusal);
  }
}

function refusalWithin(allowance: Allowance | null, refusal: ApiError): ApiError {
  return allowance === null || allowance.allowed ? refusal : rateLimited("too many requests", allowance.retryAfterMs);
}

/** Whoever has shown no credential sends its request, takes its answer and goes on with the next one soon, or is cut off. */
function hurryStranger({ incoming, outgoing, connection, clock }: {
  readonly incoming: IncomingMessage; readonly outgoing: ServerResponse; readonly connection: Connection; readonly clock: Clock;
}, refuse: () => void): void {
  if (connection.kind() !== "stranger") return;
  const { socket } = incoming;
  const limits = [
    clock.after(STRANGER_REQUEST_MS, () => {
      if (connection.kind() !== "stranger" || incoming.complete) return;
      if (outgoing.headersSent) socket.destroy();
      else refuse();
    }),
    clock.after(STRANGER_ANSWER_MS, () => {
      if (connection.kind() === "stranger") socket.destroy();
    }),
  ];
  outgoing.once("close", () => {
    for (const cancel of limits) cancel();
  });
  outgoing.once("finish", () => {
    if (connection.kind() === "stranger") socket.setTimeout(STRANGER_KEEP_ALIVE_SECONDS * 1000);
  });
}
