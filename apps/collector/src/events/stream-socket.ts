import type { IncomingMessage } from "node:http";
import type { Clock, Log } from "@lanthorn/runtime";
import { type WebSocket, WebSocketServer } from "ws";
import { ApiError } from "../gateway/errors.ts";
import type { OnUpgrade } from "../gateway/http/listeners.ts";
import { endWithError } from "../gateway/http/refusals.ts";
import type { StreamSessions } from "../gateway/stream-sessions.ts";
import type { LiveEvents } from "./live.ts";
import { admitStream, type AdmittedStream, meetCaller, STREAM_SCOPE, type StreamAdmissionDependencies } from "./stream-admission.ts";
import { CLOSE, serveStream } from "./stream-client.ts";

interface StreamSockets {
  readonly onUpgrade: OnUpgrade;
  /** How many streams there are now. */
  open(): number;
  /** Ends every stream with 1001, refuses new ones, and cuts off who has not answered after two seconds. */
  close(): Promise<void>;
}

interface StreamSocketDependencies extends StreamAdmissionDependencies {
  readonly live: LiveEvents;
  readonly sessions: Pick<StreamSessions, "open">;
  readonly clock: Clock;
  readonly log: Log;
}

const CLOSE_WITHIN_MS = 2000;
/** Clients have nothing to say; a ping or a close is small. */
const MAX_MESSAGE_BYTES = 4096;

/**
 * `/ws/events?token=…&since=…&events=…&site_id=…` on every listener; instead of `token`, a single-use `ticket`. Whatever is wrong
 * with a request is refused before the upgrade, with the status and the envelope that REST has for it.
 */
export function createStreamSockets(deps: StreamSocketDependencies): StreamSockets {
  const server = new WebSocketServer({ noServer: true, clientTracking: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  const answerHeaders = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>();
  let closed = false;
  server.on("headers", (lines, request) => {
    for (const [name, value] of Object.entries(answerHeaders.get(request) ?? {})) lines.push(`${name}: ${value}`);
  });
  server.on("wsClientError", (error, socket, request) => {
    endWithError(socket, new ApiError("BAD_REQUEST", `no WebSocket can be opened: ${error.message}`), answerHeaders.get(request));
  });

  const accept = async (upgrade: Parameters<OnUpgrade>[0]): Promise<void> => {
    const { request, socket } = upgrade;
    const caller = await meetCaller(upgrade, deps);
    answerHeaders.set(request, caller.headers);
    try {
      const stream = await admitStream(caller, deps);
      if (closed) throw new ApiError("SERVICE_UNAVAILABLE", "the collector stops");
      if (!socket.destroyed) open(upgrade, stream);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      endWithError(socket, error, caller.headers);
    }
  };

  const open = ({ request, socket, head }: Parameters<OnUpgrade>[0], stream: AdmittedStream): void => {
    let webSocket: WebSocket | null = null;
    const place = deps.sessions.open({
      identity: stream.identity, scope: STREAM_SCOPE, onEnd: ({ code, reason }) => (webSocket ? webSocket.close(code, reason) : socket.destroy()),
    });
    if (place instanceof ApiError) throw place;
    socket.once("close", place);
    server.handleUpgrade(request, socket, head, (opened) => {
      webSocket = opened;
      opened.on("error", (error) => deps.log.debug({ reason: error.message }, "stream connection failed"));
      serveStream(opened, stream, deps);
    });
  };

  return {
    open: () => server.clients.size,
    onUpgrade(upgrade) {
      upgrade.socket.on("error", () => upgrade.socket.destroy());
      accept(upgrade).catch((error: unknown) => {
        deps.log.error({ reason: error instanceof Error ? error.message : String(error) }, "stream could not be opened");
        endWithError(
          upgrade.socket, new ApiError("INTERNAL_ERROR", "the stream could not be opened"), answerHeaders.get(upgrade.request),
        );
      });
    },
    close() {
      closed = true;
      for (const webSocket of server.clients) webSocket.close(CLOSE.goingAway, "the collector stops");
      return new Promise((resolve) => {
        const cancel = deps.clock.after(CLOSE_WITHIN_MS, () => {
          for (const webSocket of server.clients) webSocket.terminate();
        });
        server.close(() => {
          cancel();
          resolve();
        });
      });
    },
  };
}
