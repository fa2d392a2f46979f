import type { StreamEvent } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import { WebSocket } from "ws";
import type { LiveEvents } from "./live.ts";
import type { AdmittedStream } from "./stream-admission.ts";

/** Close codes as registered. @see RFC 6455 section 7.4 */
export const CLOSE = { goingAway: 1001, failed: 1011, tryAgainLater: 1013 } as const;

const PING_EVERY_MS = 30_000;
/** A consumer that is this far behind is closed: it resumes from the log, which is the better place to wait. */
const MAX_BEHIND_BYTES = 1024 * 1024;
/** While catching up, as much is in flight at once and no more. */
const CATCH_UP_BYTES = 256 * 1024;

/** Sends a client its events until either side closes; one that does not answer a ping is cut off. */
export function serveStream(
  webSocket: WebSocket, { identity, query, since }: AdmittedStream, { live, clock }: { readonly live: LiveEvents; readonly clock: Pick<Clock, "every"> },
): void {
  let answered = true;
  const ping = () => {
    if (!answered) {
      webSocket.terminate();
      return;
    }
    answered = false;
    webSocket.ping();
  };
  const endings = [
    clock.every(PING_EVERY_MS, ping),
    live.subscribe(
      {
        tenantId: identity.tenantId, since, siteId: query.site_id ?? null,
        events: query.events?.length ? new Set<StreamEvent>(query.events) : null,
      },
      consumerOf(webSocket),
    ),
  ];
  webSocket.on("pong", () => {
    answered = true;
  });
  webSocket.on("close", () => {
    for (const end of endings) end();
  });
}

function consumerOf(webSocket: WebSocket) {
  let drained: (() => void) | null = null;
  const sent = () => {
    if (webSocket.readyState === WebSocket.OPEN && webSocket.bufferedAmount > CATCH_UP_BYTES) return;
    drained?.();
    drained = null;
  };
  webSocket.on("close", sent);
  return {
    deliver(frame: string) {
      if (webSocket.readyState !== WebSocket.OPEN) return;
      if (webSocket.bufferedAmount > MAX_BEHIND_BYTES) webSocket.close(CLOSE.tryAgainLater, "too far behind: resume with since");
      else webSocket.send(frame, sent);
    },
    drained(): Promise<void> {
      return new Promise((resolve) => {
        drained = resolve;
        sent();
      });
    },
    failed: () => webSocket.close(CLOSE.failed, "the stream cannot be read now: resume with since"),
  };
}
