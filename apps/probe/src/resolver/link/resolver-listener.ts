/** The daemon's side: it listens where resolvers of this machine may connect, and takes what they found. */
import type { ResolverState } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import type { ChannelRate } from "../../channel/channel.ts";
import { listenOnSocket, type SocketListener } from "../../channel/socket-listener.ts";
import { FromResolver, type ListedThreat, type ReportedQueries, type ToResolver } from "./messages.ts";

/** What listens. */
export interface ResolverListener extends Pick<SocketListener, "close"> {
  /** Of the resolver that spoke last; null while none is there. */
  state(): ResolverState | null;
}

const RATE: ChannelRate = { messages: 100, bytes: 512 * 1024 };

/**
 * Begins at once, and tries again where it cannot.
 * @param deps.onThreat False where it could not be written down: the resolver keeps it. @param deps.onQueries Likewise.
 */
export function listenForResolver(path: string, deps: {
  readonly onThreat: (threat: ListedThreat) => boolean; readonly onQueries: (queries: ReportedQueries) => boolean; readonly clock: Pick<Clock, "after" | "monotonic">; readonly log: Pick<Log, "warn">;
}): ResolverListener {
  let state: ResolverState | null = null;
  const { close } = listenOnSocket<FromResolver, ToResolver>(path, {
    who: "the resolver", incoming: FromResolver, rate: RATE, clock: deps.clock, log: deps.log,
    onMessage(message, answer) {
      if (message.kind === "state") state = message.state;
      else if (message.kind === "queries") {
        if (deps.onQueries(message.queries)) answer({ kind: "queries-taken", number: message.number });
      } else if (deps.onThreat(message.threat)) answer({ kind: "taken", number: message.number });
    },
    onAllGone: () => (state = null),
  });
  return { state: () => state, close };
}
