import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError, errorEnvelope } from "../errors.ts";

/** A refused client that neither reads nor closes is cut off after so long without activity. */
const LINGER_MS = 2000;

/** Answers a raw socket with the error envelope and closes it. */
export function endWithError(socket: Duplex, error: ApiError, headers: Readonly<Record<string, string>> = {}): void {
  const body = JSON.stringify(errorEnvelope(error));
  const lines = Object.entries({
    ...headers, ...error.headers, "content-type": "application/json", "content-length": String(Buffer.byteLength(body)),
    ...(error.code === "UNAUTHORIZED" ? { "www-authenticate": "Bearer" } : {}), "cache-control": "no-store", connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on("error", () => socket.destroy());
  socket.end(`HTTP/1.1 ${error.status} ${error.code}\r\n${lines.join("")}\r\n${body}`);
  // A client may leave its half of the connection open for ever.
  if (socket instanceof Socket) socket.setTimeout(LINGER_MS, () => socket.destroy());
}

/**
 * What to tell a client whose bytes Node's parser could not make a request of.
 * @param limits.headerBytes How large request line and headers may be together.
 * @returns BAD_REQUEST with status 400, 408 (the request did not come in time) or 431 (RFC 6585 section 5); null where nobody is
 * left to tell.
 */
export function parserRefusal(error: NodeJS.ErrnoException, limits: { readonly headerBytes: number }): ApiError | null {
  // Any other is a fault of the connection or of its TLS, over which nothing can be said.
  if (!/^(HPE_|ERR_HTTP_)/.test(error.code ?? "")) return null;
  if (error.code === "HPE_HEADER_OVERFLOW") {
    return new ApiError("BAD_REQUEST", `URL and headers are larger than ${limits.headerBytes} bytes`, { status: 431 });
  }
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return lateRequest();
  return new ApiError("BAD_REQUEST", "the request is not readable HTTP");
}

/** 408 with the code BAD_REQUEST. @see RFC 9110 section 15.5.9 */
export function lateRequest(): ApiError {
  return new ApiError("BAD_REQUEST", "the request did not come in time", { status: 408 });
}
