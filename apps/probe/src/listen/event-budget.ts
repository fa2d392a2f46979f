import { KNOWN_AFTER_MS, type Neighbor } from "./neighbor-table.ts";

/** How many neighbor events may be published, so that made-up neighbors fill no queue and use no budget of real ones. */
export interface EventBudget {
  /** Whether an event about this one may be published now. @param now Monotonic milliseconds. */
  allows(neighbor: Neighbor, now: number): boolean;
  /** An event about it was published. */
  spend(neighbor: Neighbor): void;
}

/** More than a real link ever brings; the rest waits, and a change that is undone meanwhile is never published. */
const EVENTS_A_MINUTE = 120;
/** A trunk of phones that appears at once. Departures are published as often as arrivals. */
const MAX_NEW_AN_HOUR = 300;

/** 120 events a minute for known neighbors and 120 for others, of these 300 arrivals an hour. */
export function createEventBudget(): EventBudget {
  const minutes = { known: createWindow(60_000, EVENTS_A_MINUTE), unknown: createWindow(60_000, EVENTS_A_MINUTE) };
  const hour = createWindow(3_600_000, MAX_NEW_AN_HOUR);
  const windowsOf = ({ reported, gone, heardAt, firstHeardAt }: Neighbor) => {
    if (reported !== null && heardAt - firstHeardAt >= KNOWN_AFTER_MS) return [minutes.known];
    return gone === null ? [minutes.unknown, hour] : [minutes.unknown];
  };
  return {
    allows: (neighbor, now) => windowsOf(neighbor).every((window) => window.hasRoom(now)),
    spend(neighbor) {
      for (const window of windowsOf(neighbor)) window.spend();
    },
  };
}

function createWindow(lengthMs: number, most: number) {
  let from = Number.NEGATIVE_INFINITY;
  let spent = 0;
  return {
    hasRoom(now: number): boolean {
      if (now - from >= lengthMs) [from, spent] = [now, 0];
      return spent < most;
    },
    spend() {
      spent += 1;
    },
  };
}
