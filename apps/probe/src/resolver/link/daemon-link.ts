/** The resolver's side: it connects to the daemon, goes on without it, and sends what it counted. */
import { connect, type Socket } from "node:net";
import type { ResolverState } from "@lanthorn/contract/uplink";
import { type Clock, createBackoff } from "@lanthorn/runtime";
import { type Channel, CHANNEL_RATE, openChannel } from "../../channel/channel.ts";
import { type FromResolver, ToResolver } from "./messages.ts";
import type { QueryTally } from "./query-tally.ts";
import type { ThreatTally } from "./threat-tally.ts";

const FLUSH_MS = 1000;
const STATE_MS = 10_000;
const QUERIES_MS = 15_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/**
 * Begins at once.
 * @param deps.path The daemon's socket; nothing need be there.
 * @returns What ends it.
 */
export function linkToDaemon(deps: {
  readonly path: string; readonly tally: ThreatTally; readonly queries: QueryTally; readonly state: () => ResolverState; readonly random: () => number;
  readonly clock: Pick<Clock, "after" | "every" | "monotonic" | "now">;
}): () => void {
  const { path, tally, queries, clock } = deps;
  const backoff = createBackoff({ firstMs: FIRST_WAIT_MS, longestMs: LONGEST_WAIT_MS, random: deps.random });
  let socket: Socket | null = null;
  let channel: Channel<FromResolver> | null = null;
  let cancelWait = () => {};

  const away = () => {
    channel = null;
    socket = null;
    tally.lost();
    queries.lost();
    cancelWait = clock.after(FIRST_WAIT_MS + backoff.next(), begin);
  };
  const sendState = () => channel?.send({ kind: "state", state: deps.state() });
  const sendQueries = () => queries.flush(clock.now(), (number, reported) => channel?.send({ kind: "queries", number, queries: reported }) ?? false);
  function begin(): void {
    const fresh = connect(path);
    socket = fresh;
    fresh.once("error", away);
    fresh.once("connect", () => {
      fresh.off("error", away);
      channel = openChannel<ToResolver, FromResolver>({
        stream: fresh, incoming: ToResolver, rate: CHANNEL_RATE, clock, onEnd: away,
        onMessage: ({ kind, number }) => {
          backoff.reset();
          if (kind === "taken") return tally.taken(number);
          queries.taken(number);
          // What waits besides goes one after the other.
          if (queries.size > 0) sendQueries();
        },
      });
      sendState();
    });
  }

  begin();
  const ends = [
    clock.every(FLUSH_MS, () => tally.flush(clock.monotonic(), (number, threat) => channel?.send({ kind: "threat", number, threat }) ?? false)),
    clock.every(STATE_MS, sendState),
    clock.every(QUERIES_MS, sendQueries),
  ];
  return () => {
    for (const end of ends) end();
    cancelWait();
    if (channel) channel.close();
    else socket?.off("error", away).on("error", () => undefined).destroy();
  };
}
