import { BATCH_MAX_EVENTS } from "@lanthorn/contract/uplink";

/** How many events a batch may have: fewer while the collector cannot take them together. */
export interface BatchLimit {
  readonly maxEvents: number;
  /** The collector could not take a batch of so many. @returns False for a single event, which cannot be halved: batches are full again. */
  halve(events: number): boolean;
  /** The collector took a batch: the next may have twice as many. */
  grow(): void;
  reset(): void;
}

/** Begins with the contract's limit, and never goes above it. */
export function createBatchLimit(): BatchLimit {
  let maxEvents = BATCH_MAX_EVENTS;
  return {
    get maxEvents() {
      return maxEvents;
    },
    halve(events) {
      maxEvents = events === 1 ? BATCH_MAX_EVENTS : Math.max(1, Math.floor(Math.min(maxEvents, events) / 2));
      return events > 1;
    },
    grow() {
      maxEvents = Math.min(maxEvents * 2, BATCH_MAX_EVENTS);
    },
    reset() {
      maxEvents = BATCH_MAX_EVENTS;
    },
  };
}
