import { STREAM_PATH, StreamFrame } from "@lanthorn/contract";
import { ClientError } from "./errors.ts";
import { parseJson } from "./json.ts";

interface SocketEvents {
  readonly open: unknown;
  readonly message: { readonly data: unknown };
  readonly close: { readonly code: number; readonly reason: string };
  /** The `ws` package says in `message` how an upgrade was refused; a browser says nothing. */
  readonly error: { readonly message?: unknown };
}

/** As much of a WebSocket as is used; the browser's and the `ws` package's both have it. */
export interface Socket {
  addEventListener<T extends keyof SocketEvents>(type: T, listener: (event: SocketEvents[T]) => void): void;
  close(): void;
}

/** Needed of time, so that a test can hold it; runtime's Clock and Backoff satisfy them. */
interface Timers {
  after(delayMs: number, task: () => void): () => void;
}
interface Waits {
  next(): number;
  reset(): void;
}

/** Close codes for what trying again does not mend: 4401, when the token has ended or may do less. Numbered as HTTP's refusals are. */
const CLOSE_REFUSED = { from: 4400, below: 4500 };
/** Too many requests or streams: there is room later. */
const TOO_MANY = 429;

/** An event stream that was begun. It comes back after every loss until it is closed or refused. */
export interface LiveClient {
  /** Ends the stream; no handler is called after it. */
  close(): void;
}

/**
 * Follows the collector's event stream, coming back after every loss at the sequence where it was, so that no event is
 * missed or seen twice as long as the collector's log reaches back that far.
 * @param options.since The sequence after which to begin; null for from now on.
 * @param options.onClosed Called once when the stream ends for good: the token, or what was asked for, is refused. A browser does
 * not say how an upgrade was refused: there, whoever sees no `connected` asks by REST.
 * @param options.onState Called whenever the connection comes, or goes and is tried again.
 */
export function createLiveClient(options: {
  readonly url: string;
  /** Sent in the URL; or `ticket`, which each connection gets a new one of, so that no token is in a URL. */
  readonly token?: () => string;
  /** A refusal (401, 403) ends the stream; any other failure is tried again. */
  readonly ticket?: () => Promise<string>;
  readonly events?: readonly string[];
  readonly siteId?: string;
  readonly since?: number | null;
  readonly connect: (url: string) => Socket;
  readonly clock: Timers;
  readonly backoff: Waits;
  readonly onFrame: (frame: StreamFrame) => void;
  readonly onState?: (state: "connected" | "disconnected") => void;
  readonly onClosed: (reason: string) => void;
}): LiveClient {
  let since = options.since ?? null;
  let socket: Socket | undefined;
  let cancelRetry: (() => void) | undefined;
  let closed = false;

  const retry = (next: () => void) => {
    cancelRetry = options.clock.after(options.backoff.next(), next);
  };
  const open = () => {
    if (!options.ticket) {
      connect({ token: options.token?.() ?? "" });
      return;
    }
    void openByTicket(options.ticket);
  };
  const openByTicket = async (getTicket: () => Promise<string>) => {
    try {
      const ticket = await getTicket();
      if (!closed) connect({ ticket });
    } catch (error) {
      if (closed) return;
      if (!(error instanceof ClientError && (error.status === 401 || error.status === 403))) {
        retry(open);
        return;
      }
      closed = true;
      options.onClosed(error.message);
    }
  };
  const connect = (credential: Readonly<Record<string, string>>) => {
    const current = options.connect(streamUrl(options, credential, since));
    socket = current;
    current.addEventListener("open", () => options.onState?.("connected"));
    current.addEventListener("error", ({ message }) => {
      const status = statusOf(message);
      if (closed || status < 400 || status >= 500 || status === TOO_MANY) return;
      closed = true;
      options.onClosed(`the collector refused it (${status})`);
    });
    current.addEventListener("message", ({ data }) => {
      const frame = StreamFrame.safeParse(parseJson(data));
      if (closed || !frame.success) return;
      options.backoff.reset();
      since = frame.data.seq;
      options.onFrame(frame.data);
    });
    current.addEventListener("close", ({ code, reason }) => {
      if (closed) return;
      if (code >= CLOSE_REFUSED.from && code < CLOSE_REFUSED.below) {
        closed = true;
        options.onClosed(reason === "" ? `the collector refused it (${code})` : reason);
        return;
      }
      options.onState?.("disconnected");
      retry(open);
    });
  };
  open();
  return {
    close() {
      closed = true;
      cancelRetry?.();
      socket?.close();
    },
  };
}

/** @returns 0 where the message names none. */
function statusOf(message: unknown): number {
  return Number(/^Unexpected server response: (\d{3})$/.exec(String(message))?.[1] ?? 0);
}

function streamUrl(
  options: { readonly url: string; readonly events?: readonly string[]; readonly siteId?: string },
  credential: Readonly<Record<string, string>>, since: number | null,
): string {
  // Below the path that a proxy has the collector at.
  const url = new URL(`.${STREAM_PATH}`, options.url.replace(/^http/, "ws").replace(/(?<!\/)\/*$/, "/"));
  for (const [name, value] of Object.entries(credential)) url.searchParams.set(name, value);
  if (options.events?.length) url.searchParams.set("events", options.events.join(","));
  if (options.siteId !== undefined) url.searchParams.set("site_id", options.siteId);
  if (since !== null) url.searchParams.set("since", String(since));
  return url.href;
}
