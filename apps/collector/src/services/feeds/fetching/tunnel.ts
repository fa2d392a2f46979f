import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Duplex } from "node:stream";
import { FeedFailure } from "../failure.ts";

/** An HTTP proxy: its host and port, and the header that it wants where it has a user name. */
export interface Proxy {
  readonly host: string;
  readonly port: number;
  readonly authorization: string | null;
}

/** @param text As `http://user:password@proxy:3128`, already checked. */
export function parseProxy(text: string): Proxy {
  const url = new URL(text);
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    host: url.hostname.replaceAll(/^\[|\]$/g, ""), port: Number(url.port || 80),
    authorization: user === ":" ? null : `Basic ${Buffer.from(user).toString("base64")}`,
  };
}

/**
 * A connection through a proxy by CONNECT, with TLS to the target where it is https.
 * @throws FeedFailure `unreachable` where the proxy refuses or is not there.
 * @see RFC 9110 section 9.3.6
 */
export function openTunnel(proxy: Proxy, target: URL, options: { readonly ca: readonly string[] | null; readonly stop: AbortSignal }): Promise<Duplex> {
  const host = target.hostname.replaceAll(/^\[|\]$/g, "");
  const authority = `${target.hostname}:${target.port || (target.protocol === "https:" ? 443 : 80)}`;
  return new Promise((resolve, reject) => {
    const failed = (cause: Error) => reject(new FeedFailure("unreachable", "the proxy cannot be reached", { cause }));
    const request = httpRequest({
      host: proxy.host, port: proxy.port, method: "CONNECT", path: authority, agent: false, signal: options.stop,
      headers: { host: authority, ...(proxy.authorization !== null && { "proxy-authorization": proxy.authorization }) },
    });
    request.on("connect", ({ statusCode }, socket: Socket) => {
      if (statusCode !== 200) {
        socket.destroy();
        reject(new FeedFailure("unreachable", `the proxy answers ${statusCode}`));
      } else if (target.protocol === "http:") resolve(socket);
      else {
        const secure = connectTls({ socket, servername: host, ...(options.ca && { ca: [...options.ca] }) });
        const end = () => secure.destroy(new Error("it was given up"));
        options.stop.addEventListener("abort", end);
        secure.once("secureConnect", () => {
          options.stop.removeEventListener("abort", end);
          resolve(secure);
        }).once("error", (cause) => {
          options.stop.removeEventListener("abort", end);
          reject(new FeedFailure("unreachable", "the connection through the proxy is not secure", { cause }));
        });
      }
    });
    request.on("response", (response) => {
      response.destroy();
      reject(new FeedFailure("unreachable", `the proxy answers ${response.statusCode}`));
    });
    request.on("error", failed);
    request.end();
  });
}
