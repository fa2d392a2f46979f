/** Questions by HTTPS, over HTTP/2 and HTTP/1.1. @see RFC 8484 */
import { once } from "node:events";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { TLSSocket } from "node:tls";
import { locateDnsRecords } from "@lanthorn/packets";
import type { Listener, Place, TakeMessage } from "./listener.ts";
import type { ServerCertificate } from "./stream-listener.ts";

/** Of its URL. DDR names it too. */
export const DOH_PATH = "/dns-query";

const MEDIA_TYPE = "application/dns-message";
/** RFC 8484 section 6: 65,535 bytes. A query is never so long. */
const MAX_QUERY_BYTES = 4096;
const IDLE_MS = 30_000;
const MAX_CONNECTIONS = 1024;
const MAX_CONNECTIONS_OF_CLIENT = 32;
const MAX_STREAMS = 100;

/** @throws Error as node:net does. */
export async function listenHttps(at: Place, take: TakeMessage, { certificate, key }: ServerCertificate): Promise<Listener> {
  const perClient = new Map<string, number>();
  const open = new Set<TLSSocket>();
  const server = createSecureServer({
    cert: certificate, key, allowHTTP1: true, minVersion: "TLSv1.2", handshakeTimeout: IDLE_MS,
    settings: { maxConcurrentStreams: MAX_STREAMS, enablePush: false }, maxSessionMemory: 1, maxHeaderListPairs: 64,
  }, (request, response) => void answer(request, response, take));
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(IDLE_MS);
  server.on("secureConnection", (socket: TLSSocket) => {
    const address = socket.remoteAddress ?? "";
    const others = perClient.get(address) ?? 0;
    if (others >= MAX_CONNECTIONS_OF_CLIENT) {
      socket.destroy();
      return;
    }
    perClient.set(address, others + 1);
    open.add(socket);
    socket.on("close", () => {
      open.delete(socket);
      if ((perClient.get(address) ?? 0) <= 1) perClient.delete(address);
      else perClient.set(address, (perClient.get(address) ?? 1) - 1);
    });
  });
  server.on("tlsClientError", (_: Error, socket: TLSSocket) => socket.destroy());
  server.on("sessionError", () => undefined);
  server.listen({ host: at.address, port: at.port });
  await once(server, "listening");
  const { address, port } = server.address() as Place;
  return {
    label: `https ${address}:${port}`, port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

async function answer(request: Http2ServerRequest, response: Http2ServerResponse, take: TakeMessage): Promise<void> {
  const refuse = (status: number, reason: string) => {
    if (response.headersSent) return;
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
    response.end(`${reason}\n`);
  };
  try {
    const query = await readQuery(request);
    if ("status" in query) return refuse(query.status, query.reason);
    const address = request.socket.remoteAddress;
    if (address === undefined) return;
    response.on("error", () => undefined);
    take(query.message, {
      address, isDatagram: false, isEncrypted: true,
      respond(bytes) {
        if (response.headersSent || response.writableEnded) return;
        response.writeHead(200, { "content-type": MEDIA_TYPE, "content-length": bytes.length, "cache-control": `max-age=${leastTtl(bytes)}` });
        response.end(bytes);
      },
    });
  } catch {
    refuse(400, "the request ended early");
  }
}

type Read = { readonly message: Uint8Array } | { readonly status: number; readonly reason: string };

async function readQuery(request: Http2ServerRequest): Promise<Read> {
  const [path, search = ""] = request.url.split("?", 2);
  if (path !== DOH_PATH) return { status: 404, reason: `DNS over HTTPS is at ${DOH_PATH}` };
  if (request.method === "GET") {
    const text = new URLSearchParams(search).get("dns");
    if (text === null || text.length > (MAX_QUERY_BYTES * 4) / 3 || !/^[A-Za-z0-9_-]+$/.test(text)) return { status: 400, reason: "the parameter dns must be a query in base64url, without padding" };
    return { message: Buffer.from(text, "base64url") };
  }
  if (request.method !== "POST") return { status: 405, reason: "GET or POST" };
  if (request.headers["content-type"] !== MEDIA_TYPE) return { status: 415, reason: `the body must be ${MEDIA_TYPE}` };
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > MAX_QUERY_BYTES) return { status: 413, reason: `a query has at most ${MAX_QUERY_BYTES} bytes` };
    pieces.push(piece);
  }
  return { message: Buffer.concat(pieces) };
}

/** RFC 8484 section 5.1: what is kept by HTTP must not outlive the answer. */
function leastTtl(response: Buffer): number {
  const ttls = locateDnsRecords(response)?.ttls.map((at) => response.readUInt32BE(at)) ?? [];
  return ttls.length === 0 ? 0 : Math.min(...ttls);
}
