/**
 * Questions by TCP and by TLS, as many over one connection as it likes, answered in any order.
 * @see RFC 7766 section 6, RFC 7858
 */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { createMessageSplitter, withLength } from "../messages/stream-messages.ts";
import type { ListenAt, Listener, TakeMessage } from "./listener.ts";

/** PEM. */
export interface ServerCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** RFC 7766 section 6.2.3: a server may close what is idle for seconds. */
const IDLE_MS = 10_000;
const MAX_CONNECTIONS = 1024;
const MAX_CONNECTIONS_OF_CLIENT = 32;
/** A client that asks and does not read: beyond this it is closed. */
const MAX_UNREAD_BYTES = 256 * 1024;

/** @param certificate Makes it TLS. @throws Error as node:net does. */
export async function listenStream(at: ListenAt, take: TakeMessage, certificate: ServerCertificate | null): Promise<Listener> {
  const open = new Map<Socket, string>();
  const perClient = new Map<string, number>();
  const accept = (socket: Socket) => {
    const address = socket.remoteAddress;
    const others = perClient.get(address ?? "") ?? 0;
    if (address === undefined || others >= MAX_CONNECTIONS_OF_CLIENT || open.size >= MAX_CONNECTIONS) {
      socket.destroy();
      return;
    }
    open.set(socket, address);
    perClient.set(address, others + 1);
    socket.setNoDelay(true);
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      open.delete(socket);
      const left = (perClient.get(address) ?? 1) - 1;
      if (left === 0) perClient.delete(address);
      else perClient.set(address, left);
    });
    const respond = (response: Buffer) => {
      if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
      else if (socket.writable) socket.write(withLength(response));
    };
    // A copy: the answer may come when the connection's buffer holds something else.
    socket.on("data", createMessageSplitter((message) => take(Uint8Array.prototype.slice.call(message), { address, isDatagram: false, isEncrypted: certificate !== null, respond })));
  };
  const server: Server = certificate
    ? createTlsServer({ cert: certificate.certificate, key: certificate.key, ALPNProtocols: ["dot"], minVersion: "TLSv1.2", handshakeTimeout: IDLE_MS }, accept)
    : createServer(accept);
  server.on("tlsClientError", (_: Error, socket: Socket) => socket.destroy());
  server.maxConnections = 2 * MAX_CONNECTIONS;
  server.listen("fd" in at ? { fd: at.fd } : { host: at.address, port: at.port });
  await once(server, "listening");
  const { address, port } = server.address() as { readonly address: string; readonly port: number };
  return {
    label: `${certificate ? "tls" : "tcp"} ${address}:${port}`, port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open.keys()) socket.destroy();
      }),
  };
}
