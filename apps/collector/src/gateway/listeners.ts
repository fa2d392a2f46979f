import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { getRequestListener } from "@hono/node-server";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { KeyAndCertificate } from "../certificates/authority.ts";
import { peerIdentity, type PeerIdentity } from "../certificates/peer.ts";
import { CollectorError } from "../errors.ts";
import type { ClientAddress } from "./address.ts";
import type { GatewayEnvironment, Peer } from "./environment.ts";
import { ApiError, errorEnvelope } from "./errors.ts";

/** A request to become a WebSocket. Whoever gets it answers on the socket or destroys it. */
export type OnUpgrade = (upgrade: {
  readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer; readonly peer: Peer;
}) => void;

export interface ListenerOptions {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
  /** Makes it HTTPS that asks for, and does without, a client certificate of `clientAuthority`. */
  readonly tls: (KeyAndCertificate & { readonly clientAuthority: string }) | null;
}

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
  readonly clock: Clock;
  readonly log: Log;
}

/** Request line and headers together. Tokens take under 1 KiB; Node's own 16 KiB, said here so that no flag of the process changes it. */
const HEADER_LIMIT_BYTES = 16_384;
const LIMITS = {
  maxHeaderSize: HEADER_LIMIT_BYTES, headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5000,
} as const;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Each idle connection takes some tens of kilobytes, with TLS twice that. */
const MOST_CONNECTIONS = 4096;
const FINISH_WITHIN_MS = 10_000;

/** @throws CollectorError `listen-failed`, naming the address. */
export async function openListener(options: ListenerOptions, deps: ListenerDependencies): Promise<Listener> {
  const peerOf = createPeerOf(deps);
  const handle = getRequestListener(
    (request, { incoming }) => deps.fetch(request, { peer: peerOf(incoming as IncomingMessage) }),
    { errorHandler: (error) => answerBroken(error, deps.log) },
  );
  let closing = false;
  const listener: RequestListener = (incoming, outgoing) => {
    outgoing.once("close", () => {
      if (closing) setImmediate(() => server.closeIdleConnections());
    });
    void handle(incoming, outgoing);
  };
  const { tls } = options;
  const server: Server = tls === null
    ? createHttpServer(LIMITS, listener)
    : createHttpsServer(
      { ...LIMITS, ...tlsOptions(tls), requestCert: true, rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_TIMEOUT_MS }, listener,
    );
  server.maxConnections = MOST_CONNECTIONS;
  server.on("upgrade", (request, socket, head) => deps.onUpgrade({ request, socket, head, peer: peerOf(request) }));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => refuseBroken(error, socket));
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
    server.listen({ host, port }, () => {
      server.off("error", onError);
      resolve();
    });
  });
}

/** Reads a connection's certificate once: many requests come over one connection. */
function createPeerOf(deps: ListenerDependencies): (request: IncomingMessage) => Peer {
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
function answerBroken(error: unknown, log: Log): Response {
  log.debug({ reason: describeError(error) }, "request not readable");
  return Response.json(errorEnvelope(new ApiError("BAD_REQUEST", "the request is not readable")), { status: 400 });
}

/** What Node's parser could not read never becomes a request: the envelope goes straight to the socket. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const message = error.code === "HPE_HEADER_OVERFLOW"
    ? `URL and headers are larger than ${HEADER_LIMIT_BYTES} bytes`
    : "the request is not readable HTTP";
  endWithError(socket, new ApiError("BAD_REQUEST", message));
}

/** Answers a raw socket with the error envelope and closes it. */
export function endWithError(socket: Duplex, error: ApiError, headers: Readonly<Record<string, string>> = {}): void {
  const body = JSON.stringify(errorEnvelope(error));
  const lines = Object.entries({
    ...headers, ...error.headers, "content-type": "application/json", "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on("error", () => socket.destroy());
  socket.end(`HTTP/1.1 ${error.status} ${error.code}\r\n${lines.join("")}\r\n${body}`);
}
