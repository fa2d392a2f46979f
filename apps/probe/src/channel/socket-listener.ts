/** The daemon's side of a channel to a process of this machine: a UNIX socket in a folder that the two share. */
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { createServer } from "node:net";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type * as z from "zod";
import { type Channel, type ChannelRate, openChannel } from "./channel.ts";

/** What listens. */
export interface SocketListener<Out = never> {
  /** To every process that is connected. */
  send(message: Out): void;
  close(): Promise<void>;
}

/** One process runs; another one begins while the first ends. */
const MAX_CONNECTIONS = 4;
const RETRY_MS = 5000;
/** The folder's group may connect, and nobody else. */
const SOCKET_MODE = 0o660;

/**
 * Begins at once, and tries again where it cannot.
 * @param deps.who For the log: "the resolver".
 * @param deps.onMessage With what answers it. @param deps.onAllGone No process is connected any more.
 */
export function listenOnSocket<In, Out>(path: string, deps: {
  readonly who: string; readonly incoming: z.ZodType<In>; readonly rate: ChannelRate; readonly onMessage: (message: In, answer: Channel<Out>["send"]) => void; readonly onAllGone: () => void;
  readonly clock: Pick<Clock, "after" | "monotonic">; readonly log: Pick<Log, "warn">;
}): SocketListener<Out> {
  const { who, log, clock } = deps;
  const channels = new Set<Channel<Out>>();
  let [problem, isClosed] = ["", false];
  let cancelRetry = () => {};
  const server = createServer((socket) => {
    if (isClosed || channels.size >= MAX_CONNECTIONS) {
      socket.destroy();
      return;
    }
    const channel: Channel<Out> = openChannel<In, Out>({
      stream: socket, incoming: deps.incoming, rate: deps.rate, clock, onMessage: (message) => deps.onMessage(message, channel.send),
      onEnd: () => {
        channels.delete(channel);
        if (channels.size === 0) deps.onAllGone();
      },
    });
    channels.add(channel);
  });
  const fail = (error: unknown) => {
    const reason = describeError(error);
    if (reason !== problem) log.warn({ path, reason }, `cannot listen for ${who}; trying again`);
    problem = reason;
    if (!isClosed) cancelRetry = clock.after(RETRY_MS, begin);
  };
  function begin(): void {
    try {
      // Left by a daemon that was killed: no other one runs with this machine's identity.
      if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) unlinkSync(path);
      server.listen(path);
    } catch (error) {
      fail(error);
    }
  }
  server.on("error", fail);
  server.on("listening", () => {
    problem = "";
    try {
      chmodSync(path, SOCKET_MODE);
    } catch (error) {
      log.warn({ path, reason: describeError(error) }, `${who} may not be able to connect`);
    }
  });
  begin();
  return {
    send(message) {
      for (const channel of channels) channel.send(message);
    },
    async close() {
      isClosed = true;
      cancelRetry();
      for (const channel of channels) channel.close();
      if (!server.listening) return;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
