import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { Clock, Log } from "@lanthorn/runtime";
import type { ServerCertificate } from "../certificates/server-certificate.ts";
import { CollectorError } from "../errors.ts";
import { createConnections } from "../gateway/http/connections.ts";

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Where probes connect, and who may. */
export interface ProbeListenerOptions {
  readonly host: string;
  /** 0 for any free one; `port()` tells it. */
  readonly port: number;
  readonly certificate: Pick<ServerCertificate, "current" | "onChange">;
  /** The authority whose client certificates are let in, PEM. */
  readonly clientCa: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Connections in all, and from one address, or one /64, before they have shown a certificate. */
  readonly limits: { readonly connections: number; readonly strangersPerAddress: number };
  /** Addresses and prefixes of load balancers, which may open any number of connections for unknown clients. */
  readonly trustedProxies: readonly string[];
}

/** The port that probes connect to. */
export interface ProbeListener {
  isListening(): boolean;
  /** Null where it does not listen. */
  port(): number | null;
  /** Takes no more connections. */
  stop(): void;
  /** Ends the connections that are left. Resolves when all are. */
  close(): Promise<void>;
}

/**
 * Listens for probes: TLS with a client certificate of `clientCa`, and bounds on connections that have not shown one.
 * @param onConnection Is called for each that has.
 * @throws CollectorError `listen-failed`.
 */
export async function openProbeListener(
  options: ProbeListenerOptions, onConnection: (socket: TLSSocket) => void,
): Promise<ProbeListener> {
  const { limits, trustedProxies, clock } = options;
  const connections = createConnections({
    // Probes of many sites may share an address: those that are known are bounded by how many there are of each probe.
    limits: { ...limits, total: limits.connections, perAddress: limits.connections, perProxy: limits.connections },
    trustedProxies, clock,
  });
  const openSockets = new Set<Socket>();
  const { key, certificate: cert } = options.certificate.current();
  const listener = createServer({
    key, cert, ca: options.clientCa, requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.2",
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    // A packet's two answers, the broker's and ours, are small: the second would wait 40 ms for the probe to confirm the first.
    noDelay: true,
  });
  listener.on("connection", (socket: Socket) => {
    openSockets.add(socket);
    socket.once("close", () => openSockets.delete(socket));
  });
  connections.guard(listener);
  listener.on("secureConnection", (socket: TLSSocket) => {
    const connection = connections.of(socket);
    connection.known();
    connection.begin();
    onConnection(socket);
  });
  listener.on("tlsClientError", (error: Error, socket: TLSSocket) => {
    options.log.debug({ address: socket.remoteAddress, reason: error.message }, "TLS handshake refused");
  });
  options.certificate.onChange(
    (renewed) => listener.setSecureContext({ key: renewed.key, cert: renewed.certificate, ca: options.clientCa }),
  );
  try {
    listener.listen(options.port, options.host);
    await once(listener, "listening");
  } catch (cause) {
    throw new CollectorError("listen-failed", `cannot listen for probes on ${options.host}:${options.port}`, { cause });
  }
  listener.on("error", (error) => options.log.error({ reason: error.message }, "the listener for probes failed"));
  let closed: Promise<unknown> | null = null;
  return {
    isListening: () => listener.listening,
    port: () => (listener.address() as AddressInfo | null)?.port ?? null,
    stop() {
      if (listener.listening) closed = once(listener, "close");
      listener.close();
    },
    async close() {
      for (const socket of openSockets) socket.destroy();
      await closed;
    },
  };
}
