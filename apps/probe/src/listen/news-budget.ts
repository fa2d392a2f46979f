import { KNOWN_AFTER_MS, type Neighbor } from "./neighbor-table.ts";

/** How much may be told of neighbors, so that made-up ones fill no queue and take nothing from those that are there. */
export interface NewsBudget {
  /** Whether something may be told of this one now. @param now Monotonic milliseconds. */
  allows(neighbor: Neighbor, now: number): boolean;
  /** Something was told of it. */
  spend(neighbor: Neighbor): void;
}

/** More than a real link ever brings; what exceeds it waits, and what is undone meanwhile is never told. */
const EVENTS_A_MINUTE = 120;
/** A trunk of phones that appears at once. That they go is as often told as that they came. */
const STRANGERS_AN_HOUR = 300;

export function createNewsBudget(): NewsBudget {
  const minutes = { known: createWindow(60_000, EVENTS_A_MINUTE), strangers: createWindow(60_000, EVENTS_A_MINUTE) };
  const hour = createWindow(3_600_000, STRANGERS_AN_HOUR);
  const windowsOf = ({ told, gone, heardAt, firstHeardAt }: Neighbor) => {
    if (told !== null && heardAt - firstHeardAt >= KNOWN_AFTER_MS) return [minutes.known];
    return gone === null ? [minutes.strangers, hour] : [minutes.strangers];
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
