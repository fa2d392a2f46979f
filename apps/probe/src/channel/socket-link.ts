/** A process's side of the channel to the daemon: it connects, goes on without the daemon, and connects again. */
import { connect, type Socket } from "node:net";
import { type Clock, createBackoff } from "@lanthorn/runtime";
import type * as z from "zod";
import { type Channel, CHANNEL_RATE, openChannel } from "./channel.ts";

/** The way to the daemon. */
export interface SocketLink<Out> {
  /** @returns False where the daemon is away or does not read. */
  send(message: Out): boolean;
  close(): void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/**
 * Begins at once.
 * @param deps.path The daemon's socket; nothing need be there.
 * @param deps.onOpen It is connected. @param deps.onAway What it did not take is lost.
 */
export function linkBySocket<In, Out>(deps: {
  readonly path: string; readonly incoming: z.ZodType<In>; readonly onOpen: () => void; readonly onMessage: (message: In) => void; readonly onAway: () => void;
  readonly random: () => number; readonly clock: Pick<Clock, "after" | "monotonic">;
}): SocketLink<Out> {
  const { path, clock } = deps;
  const backoff = createBackoff({ firstMs: FIRST_WAIT_MS, longestMs: LONGEST_WAIT_MS, random: deps.random });
  let socket: Socket | null = null;
  let channel: Channel<Out> | null = null;
  let cancelWait = () => {};

  const away = () => {
    channel = null;
    socket = null;
    deps.onAway();
    cancelWait = clock.after(FIRST_WAIT_MS + backoff.next(), begin);
  };
  function begin(): void {
    const fresh = connect(path);
    socket = fresh;
    fresh.once("error", away);
    fresh.once("connect", () => {
      fresh.off("error", away);
      channel = openChannel<In, Out>({
        stream: fresh, incoming: deps.incoming, rate: CHANNEL_RATE, clock, onEnd: away,
        onMessage(message) {
          backoff.reset();
          deps.onMessage(message);
        },
      });
      deps.onOpen();
    });
  }

  begin();
  return {
    send: (message) => channel?.send(message) ?? false,
    close() {
      cancelWait();
      if (channel) channel.close();
      else socket?.off("error", away).on("error", () => undefined).destroy();
    },
  };
}
