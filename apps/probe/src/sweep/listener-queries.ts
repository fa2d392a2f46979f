import type { Link } from "../capture/link.ts";
import { encodeListenerQueries } from "../egress/request-frames.ts";

/**
 * Asks all IPv6 nodes for the multicast groups that they listen to: hosts that answer no echo request do answer this. Every node listens to
 * the group of each of its own addresses.
 *
 * Routers elect one of them to ask, the one with the lowest address, and who hears a lower one falls silent for minutes (RFC 3810 section
 * 7.6.2). A probe must not win that: so it asks only where for as long as an election holds nobody has been heard
 * to ask. Where somebody asks, the answers are heard anyway.
 */
export interface ListenerQueries {
  /** Somebody else queried. */
  onListenerQuery(): void;
  /** What was heard before says nothing any more: another link. */
  startAnew(): void;
  /** The query, as frames; none while somebody else queries, or may. */
  packets(link: Link): readonly Uint8Array[];
}

/** Robustness × query interval + half of the response interval, as they are unless set. @see RFC 3810 section 9.5 */
const OTHER_QUERIER_PRESENT_MS = 255_000;

/** @param deps.now Monotonic milliseconds. @param deps.isGentle Nobody is asked while it is true. */
export function createListenerQueries(deps: { readonly now: () => number; readonly isGentle: () => boolean }): ListenerQueries {
  let silentFrom = deps.now();
  const startSilence = () => {
    silentFrom = deps.now();
  };
  return {
    onListenerQuery: startSilence,
    startAnew: startSilence,
    packets: (link) => (deps.isGentle() || deps.now() - silentFrom < OTHER_QUERIER_PRESENT_MS ? [] : encodeListenerQueries(link)),
  };
}
