import { connect as connectTcp } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls, type SecureVersion, type TLSSocket } from "node:tls";
import { pause, systemClock } from "@lanthorn/runtime";
import { readCertificate, type TlsCertificate } from "./certificate.ts";

/** A conversation with an unknown host over one TCP connection: bounded in bytes and time; it fails only by silence. */
export interface Connection {
  send(bytes: Uint8Array | string): void;
  /**
   * Waits until what was received is enough.
   * @param isEnough Asked whenever more has come; gets everything that was received and not yet taken.
   * @returns Everything received and not yet taken, which is taken by this: when it is enough, the time is over, or the peer has ended.
   */
  read(isEnough: (bytes: Uint8Array) => boolean, timeoutMs: number): Promise<Uint8Array>;
  /** Goes on inside TLS. @returns Null where the peer cannot; the connection is of no more use then. */
  startTls(options: TlsOptions): Promise<TlsSession | null>;
  /** The peer has ended, or too much was received. */
  isClosed(): boolean;
  close(): void;
}

/** How one handshake is made. No certificate is verified: the host is unknown, and its certificate is what is asked for. */
export interface TlsOptions {
  readonly timeoutMs: number;
  /** Protocols to offer by ALPN, the best first. */
  readonly alpn: readonly string[];
  /** The newest version to offer; the newest of all unless given. */
  readonly maxVersion?: SecureVersion;
}

/** What a TLS handshake showed. */
export interface TlsSession {
  /** As `TLSv1.3`. */
  readonly version: string;
  /** Every version that it was seen to agree to, the newest first; what was not asked for is not among them. */
  readonly versions: readonly string[];
  readonly alpn: string;
  readonly cipher: string;
  readonly certificate: TlsCertificate | null;
}

/** More than any greeting, page or certificate chain that says who somebody is. What sends more is cut off. */
const MAX_BYTES = 256 * 1024;
/** So often what has come is looked at as it comes; afterwards only now and then. */
const MAX_LOOKS = 32;
const PATIENCE_MS = 25;

/** @returns A connection, or null where none comes about in time. */
export function openConnection(
  target: { readonly ip: string; readonly port: number },
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Connection | null> {
  if (options.signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => {
    const socket = connectTcp({ host: target.ip, port: target.port, noDelay: true });
    const end = (connection: Connection | null) => {
      cancelTimeout();
      options.signal.removeEventListener("abort", abort);
      if (!connection) socket.destroy();
      resolve(connection);
    };
    const abort = () => end(null);
    const cancelTimeout = systemClock.after(options.timeoutMs, abort);
    options.signal.addEventListener("abort", abort, { once: true });
    socket.once("error", abort);
    socket.once("connect", () => {
      socket.removeListener("error", abort);
      end(createConnection(socket, options.signal));
    });
  });
}

/** @param signal Closes the connection. */
export function createConnection(socket: Duplex, signal: AbortSignal): Connection {
  let stream = socket;
  let received: Uint8Array[] = [];
  let taken = 0;
  let closed = false;
  let wake: () => void = () => undefined;
  const end = () => {
    closed = true;
    wake();
  };
  const onData = (bytes: Uint8Array) => {
    taken += bytes.length;
    received.push(bytes);
    if (taken > MAX_BYTES) close();
    wake();
  };
  const close = () => {
    signal.removeEventListener("abort", close);
    stream.destroy();
    socket.destroy();
    end();
  };
  const listen = (next: Duplex) => {
    stream = next;
    next.on("data", onData);
    next.on("end", end);
    next.on("close", end);
    next.on("error", end);
  };
  listen(socket);
  signal.addEventListener("abort", close, { once: true });
  return {
    send: (bytes) => {
      if (!closed) stream.write(bytes);
    },
    async read(isEnough, timeoutMs) {
      const deadline = systemClock.monotonic() + timeoutMs;
      for (let looks = 0; ; looks += 1) {
        // Who sends byte by byte is not looked at anew for each.
        if (looks > MAX_LOOKS && !closed) await pause(systemClock, PATIENCE_MS);
        const bytes = received.length === 1 ? (received[0] as Uint8Array) : Buffer.concat(received);
        const left = deadline - systemClock.monotonic();
        if (closed || left <= 0 || (bytes.length > 0 && isEnough(bytes))) {
          received = [];
          return bytes;
        }
        received = bytes.length === 0 ? [] : [bytes];
        await new Promise<void>((resolve) => {
          const cancelTimeout = systemClock.after(left, resolve);
          wake = () => {
            cancelTimeout();
            resolve();
          };
        });
        wake = () => undefined;
      }
    },
    async startTls(options) {
      for (const event of ["data", "end"]) stream.removeAllListeners(event);
      received = [];
      const secure = await secured(stream, options);
      if (secure === null) {
        close();
        return null;
      }
      listen(secure);
      return describeSession(secure);
    },
    isClosed: () => closed,
    close,
  };
}

/** @returns Null where the handshake fails or takes too long. */
function secured(stream: Duplex, options: TlsOptions): Promise<TLSSocket | null> {
  return new Promise((resolve) => {
    // Old devices speak old versions and weak ciphers, with certificates that nobody signed: who they are is of interest, not whether to
    // trust them.
    const secure = connectTls({
      socket: stream, rejectUnauthorized: false, minVersion: "TLSv1", maxVersion: options.maxVersion ?? "TLSv1.3",
      ciphers: "DEFAULT:@SECLEVEL=0", ALPNProtocols: [...options.alpn],
    });
    const finish = (result: TLSSocket | null) => {
      cancelTimeout();
      resolve(result);
    };
    const fail = () => finish(null);
    const cancelTimeout = systemClock.after(options.timeoutMs, fail);
    // It stays: a fault right after the handshake comes before anybody else can listen.
    secure.on("error", fail);
    secure.once("close", fail);
    secure.once("secureConnect", () => finish(secure));
  });
}

function describeSession(socket: TLSSocket): TlsSession {
  const alpn = socket.alpnProtocol;
  const version = socket.getProtocol() ?? "";
  return {
    version, versions: [version], alpn: typeof alpn === "string" ? alpn : "", cipher: socket.getCipher().name,
    certificate: readCertificate(socket),
  };
}
