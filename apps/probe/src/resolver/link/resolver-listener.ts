/** The daemon's side: it listens where resolvers of this machine may connect, and takes what they found. */
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { createServer } from "node:net";
import type { ResolverState } from "@lanthorn/contract/uplink";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { type Channel, type ChannelRate, openChannel } from "../../channel/channel.ts";
import { FromResolver, type ListedThreat, type ReportedQueries, type ToResolver } from "./messages.ts";

/** What listens. */
export interface ResolverListener {
  /** Of the resolver that spoke last; null while none is there. */
  state(): ResolverState | null;
  close(): Promise<void>;
}

/** One resolver runs; another one begins while the first ends. */
const MAX_CONNECTIONS = 4;
const RATE: ChannelRate = { messages: 100, bytes: 512 * 1024 };
const RETRY_MS = 5000;
/** The folder's group may connect, and nobody else. */
const SOCKET_MODE = 0o660;

/**
 * Begins at once, and tries again where it cannot.
 * @param deps.onThreat False where it could not be written down: the resolver keeps it. @param deps.onQueries Likewise.
 */
export function listenForResolver(path: string, deps: {
  readonly onThreat: (threat: ListedThreat) => boolean; readonly onQueries: (queries: ReportedQueries) => boolean; readonly clock: Pick<Clock, "after" | "monotonic">; readonly log: Pick<Log, "warn">;
}): ResolverListener {
  const channels = new Set<Channel<ToResolver>>();
  let state: ResolverState | null = null;
  let [problem, isClosed] = ["", false];
  let cancelRetry = () => {};
  const server = createServer((socket) => {
    if (isClosed || channels.size >= MAX_CONNECTIONS) {
      socket.destroy();
      return;
    }
    const channel: Channel<ToResolver> = openChannel<FromResolver, ToResolver>({
      stream: socket, incoming: FromResolver, rate: RATE, clock: deps.clock,
      onMessage: (message) => {
        if (message.kind === "state") state = message.state;
        else if (message.kind === "queries") {
          if (deps.onQueries(message.queries)) channel.send({ kind: "queries-taken", number: message.number });
        } else if (deps.onThreat(message.threat)) channel.send({ kind: "taken", number: message.number });
      },
      onEnd: () => {
        channels.delete(channel);
        if (channels.size === 0) state = null;
      },
    });
    channels.add(channel);
  });
  const fail = (error: unknown) => {
    const reason = describeError(error);
    if (reason !== problem) deps.log.warn({ path, reason }, "cannot listen for the resolver; trying again");
    problem = reason;
    if (!isClosed) cancelRetry = deps.clock.after(RETRY_MS, begin);
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
      deps.log.warn({ path, reason: describeError(error) }, "the resolver may not be able to connect");
    }
  });
  begin();
  return {
    state: () => state,
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
