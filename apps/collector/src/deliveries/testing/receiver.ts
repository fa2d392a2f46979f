import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer, type ServerOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** A request as a receiver got it. */
export interface Received {
  readonly at: number;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly payload: {
    readonly id: string; readonly event: string; readonly timestamp: string; readonly tenant_id: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

/** A webhook receiver on loopback that keeps what it got. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** Connections that were made, as the TLS server name where there is one. */
  readonly connections: string[];
  /** What it does with a request; answers 204 at first. */
  answer: (response: ServerResponse, request: IncomingMessage, received: Received) => void;
  /** Resolves when it got `count` requests in all; fails after five minutes, with how many it got. */
  got(count: number): Promise<readonly Received[]>;
  close(): Promise<void>;
}

/** Only what hangs takes this long. */
const HANG_MS = 300_000;

export async function startReceiver(options: { readonly tls?: ServerOptions; readonly now?: () => number } = {}): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const received: Received = {
        at: (options.now ?? Date.now)(), path: request.url ?? "", headers: request.headers, body,
        payload: (body === "" ? null : JSON.parse(body)) as Received["payload"],
      };
      receiver.received.push(received);
      receiver.answer(response, request, received);
      const ready = waiting.filter(({ count }) => receiver.received.length >= count);
      waiting = waiting.filter((entry) => !ready.includes(entry));
      for (const { resolve } of ready) resolve();
    });
  };
  const server = options.tls ? createHttpsServer(options.tls, onRequest) : createServer(onRequest);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    if (!options.tls) receiver.connections.push("");
  });
  server.on(
    "secureConnection",
    (socket: { readonly servername?: string | false }) => receiver.connections.push(
      socket.servername === false ? "" : (socket.servername ?? ""),
    ),
  );
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `${options.tls ? "https" : "http"}://127.0.0.1:${port}`, port, received: [], connections: [],
    answer: (response) => {
      response.writeHead(204).end();
    },
    async got(count) {
      if (receiver.received.length >= count) return receiver.received;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`got ${receiver.received.length} of ${count} requests`)), HANG_MS);
        waiting.push({
          count,
          resolve: () => {
            clearTimeout(timer);
            resolve();
          },
        });
      });
      return receiver.received;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
  return receiver;
}
