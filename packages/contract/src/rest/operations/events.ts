import { EventsPage, EventsQuery } from "../events.ts";
import { operations } from "../operation.ts";

/** The log of events. */
export const eventsOperations = operations({
  /** Oldest first; follow `meta.next_cursor`, and come back with `since` set to the last `meta.position`. */
  listEvents: { target: "GET /events", query: EventsQuery, status: 200, answer: EventsPage },
});
