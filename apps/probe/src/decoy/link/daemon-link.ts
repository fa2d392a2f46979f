/** The decoys' side: it connects to the daemon, goes on without it, and sends what the ladder has. */
import type { Clock } from "@lanthorn/runtime";
import { linkBySocket } from "../../channel/socket-link.ts";
import type { Ladder } from "../ladder/ladder.ts";
import { type FromDecoys, ToDecoys } from "./messages.ts";

/** What rises within it is one report. */
const FLUSH_MS = 250;

/**
 * Begins at once.
 * @param deps.path The daemon's socket; nothing need be there.
 * @returns What ends it.
 */
export function linkToDaemon({ path, ladder, random, clock }: {
  readonly path: string; readonly ladder: Ladder; readonly random: () => number; readonly clock: Pick<Clock, "after" | "every" | "monotonic">;
}): () => void {
  const link = linkBySocket<ToDecoys, FromDecoys>({
    path, incoming: ToDecoys, random, clock, onOpen: () => undefined, onMessage: ({ number }) => ladder.taken(number, clock.monotonic()), onAway: () => ladder.lost(),
  });
  const endFlushes = clock.every(FLUSH_MS, () => ladder.flush(clock.monotonic(), (number, hit) => link.send({ kind: "hit", number, hit })));
  return () => {
    endFlushes();
    link.close();
  };
}
