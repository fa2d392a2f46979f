/** The resolver's side: it connects to the daemon, goes on without it, and sends what it counted. */
import type { ResolverState } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";
import { linkBySocket } from "../../channel/socket-link.ts";
import { type FromResolver, ToResolver } from "./messages.ts";
import type { QueryTally } from "./query-tally.ts";
import type { ThreatTally } from "./threat-tally.ts";

const FLUSH_MS = 1000;
const STATE_MS = 10_000;
const QUERIES_MS = 15_000;

/**
 * Begins at once.
 * @param deps.path The daemon's socket; nothing need be there.
 * @returns What ends it.
 */
export function linkToDaemon(deps: {
  readonly path: string; readonly tally: ThreatTally; readonly queries: QueryTally; readonly state: () => ResolverState; readonly random: () => number;
  readonly clock: Pick<Clock, "after" | "every" | "monotonic" | "now">;
}): () => void {
  const { path, tally, queries, random, clock } = deps;
  const sendState = () => link.send({ kind: "state", state: deps.state() });
  const sendQueries = () => queries.flush(clock.now(), (number, reported) => link.send({ kind: "queries", number, queries: reported }));
  const link = linkBySocket<ToResolver, FromResolver>({
    path, incoming: ToResolver, random, clock, onOpen: sendState,
    onMessage({ kind, number }) {
      if (kind === "taken") return tally.taken(number);
      queries.taken(number);
      // What waits besides goes one after the other.
      if (queries.size > 0) sendQueries();
    },
    onAway() {
      tally.lost();
      queries.lost();
    },
  });
  const ends = [
    clock.every(FLUSH_MS, () => tally.flush(clock.monotonic(), (number, threat) => link.send({ kind: "threat", number, threat }))),
    clock.every(STATE_MS, sendState),
    clock.every(QUERIES_MS, sendQueries),
  ];
  return () => {
    for (const end of ends) end();
    link.close();
  };
}
