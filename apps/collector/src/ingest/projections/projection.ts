import type { EventType, ProbeEvent, ProbeEventType } from "@lanthorn/contract";
import type { Announcements } from "../announcements.ts";
import type { HostRef } from "../devices/devices-draft.ts";
import type { WorkingSet } from "../working-set.ts";

/** A parsed event of one type. */
export type EventOf<T extends ProbeEventType> = Extract<ProbeEvent, { readonly type: T }>;

/** What a projection may read and change. Devices change as drafts in `set`, which are written at the batch's end. */
export interface ProjectionContext {
  readonly set: WorkingSet;
  /** Which new devices are announced. */
  readonly announcements: Announcements;
  /** When the batch arrived. */
  readonly receivedAt: string;
}

/** What is written to the event log for an event. */
export interface LogEntry {
  readonly type: EventType;
  readonly deviceId: string | null;
  readonly data: object;
  /** What is written of it, where that is less than what reactions get. */
  readonly logged?: object;
  /** It is written down, and no webhook is called for it: one of a storm. */
  readonly isQuiet?: boolean;
}

/** How one type of event changes the devices of its site. Its instants are by our clock: see `correctEvent`. */
export interface Projection<T extends ProbeEventType> {
  /** The hosts that it is about, to be read before. */
  readonly hosts: (event: EventOf<T>) => readonly HostRef[];
  /** Whether it changes more of them than presence. */
  readonly touches?: "addresses" | "ports" | "software";
  readonly apply: (event: EventOf<T>, context: ProjectionContext) => LogEntry;
}

/** The projection of each type of event that a probe may send: a column of the table of reactions. */
export type Projections = { readonly [T in ProbeEventType]: { readonly projection: Projection<T> } };

/** The projection of an event's own type. */
export function projectionOf<T extends ProbeEventType>(projections: Projections, event: EventOf<T>): Projection<T> {
  const { projection }: { readonly projection: unknown } = projections[event.type];
  return projection as Projection<T>;
}
