import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A source of feeds on loopback, which behaves as each test wants. */
export interface FeedServer {
  readonly url: string;
  /** Each request so far: its path with its query, and its headers. */
  readonly requests: { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
  /** What a path answers from now on; a query does not count. */
  serve(path: string, handler: Handler | string | Buffer): void;
  close(): Promise<void>;
}

export async function startFeedServer(): Promise<FeedServer> {
  const handlers = new Map<string, Handler>();
  const requests: FeedServer["requests"] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? "", headers: request.headers });
    const handler = handlers.get((request.url ?? "").replace(/\?.*$/, ""));
    if (handler) handler(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests,
    serve(path, what) {
      handlers.set(path, typeof what === "function" ? what : (_, response) => void response.end(what));
    },
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    }),
  };
}
