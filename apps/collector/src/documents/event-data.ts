import { EventOrigin, EVENTS, type EventType } from "@lanthorn/contract";
import type { Schema } from "./openapi.ts";
import { writeSchema } from "./schema.ts";

/** The data that consumers get of an event: its own, and where it comes from. Several types that become one event are choices. */
export function dataOf(isMeant: (event: (typeof EVENTS)[EventType]) => boolean): Schema {
  const choices = Object.values(EVENTS).filter((event) => isMeant(event)).map(({ data }) => joined([data, EventOrigin]));
  const [only] = choices;
  return choices.length === 1 && only ? only : { anyOf: choices };
}

function joined(types: readonly Parameters<typeof writeSchema>[0][]): Schema {
  const schemas = types.map((type) => writeSchema(type, "output") ?? {});
  return {
    type: "object", properties: Object.assign({}, ...schemas.map(({ properties }) => properties)) as Record<string, Schema>,
    required: schemas.flatMap(({ required = [] }) => required),
  };
}

/** What every message about an event has beside its data. */
export const MESSAGE_FIELDS = {
  id: { type: "string", format: "uuid", description: "The event's id. It stays the same when the event is sent again." },
  timestamp: { type: "string", format: "date-time", description: "When it happened, in UTC with milliseconds." },
} as const satisfies Record<string, Schema>;
