import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { describeError, type Log } from "@lanthorn/runtime";
import type Database from "better-sqlite3";

/** Where events go; `append` joins an open transaction, and outside of one it does not throw. */
export interface EventSink {
  append(events: readonly ProbeEvent[]): unknown;
}

/** Reports events to the collector together with the state that they report, so that a crash between the two loses neither. */
export interface Publisher {
  /**
   * Writes the state and appends the events in one transaction. Either may be empty.
   * @param state Writes to the same database.
   * @returns Whether it is done. If not, nothing of it is, and the caller tries again later; the first failure in a row is logged.
   */
  publish(events: readonly ProbeEvent[], state?: () => void): boolean;
  /** The same for events that must not wait: where the disk takes nothing, they are kept in memory, and the state is not written. */
  publishAnyway(events: readonly ProbeEvent[], state: () => void): void;
}

/**
 * @param deps.db The database of the outbox.
 * @param deps.what What cannot be written down, for the log: "hosts".
 */
export function createPublisher(deps: {
  readonly db: Database.Database;
  readonly outbox: EventSink;
  readonly log: Pick<Log, "error">;
  readonly what: string;
}): Publisher {
  const { db, outbox, log, what } = deps;
  let failing = false;
  const commit = db.transaction((events: readonly ProbeEvent[], state?: () => void) => {
    state?.();
    if (events.length > 0) outbox.append(events);
  });
  return {
    publish(events, state) {
      try {
        commit(events, state);
        failing = false;
        return true;
      } catch (error) {
        if (!failing) log.error({ reason: describeError(error) }, `${what} cannot be written; trying again`);
        failing = true;
        return false;
      }
    },
    publishAnyway(events, state) {
      try {
        commit(events, state);
      } catch {
        outbox.append(events);
      }
    },
  };
}
