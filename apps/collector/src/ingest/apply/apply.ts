import type { EventType, ProbeEvent, ProbeEventType } from "@lanthorn/contract";
import type { HostRef } from "../devices-draft.ts";
import type { WorkingSet } from "../working-set.ts";

export type EventOf<T extends ProbeEventType> = Extract<ProbeEvent, { readonly type: T }>;

export interface ApplyContext {
  readonly set: WorkingSet;
  /** When the batch arrived: nothing was seen later than this, whatever the probe's clock says. */
  readonly receivedAt: string;
}

/** What is written to the event log for an event. */
export interface LogEntry {
  readonly type: EventType;
  readonly deviceId: string | null;
  readonly data: object;
}

/** How one type of event changes what is known. */
export interface Apply<T extends ProbeEventType> {
  /** The hosts that it is about, to be read before. */
  readonly hosts: (event: EventOf<T>) => readonly HostRef[];
  /** Whether it changes more of them than presence. */
  readonly touches?: "addresses" | "ports";
  readonly apply: (event: EventOf<T>, context: ApplyContext) => LogEntry;
}

/** The earlier of the two: a probe whose clock is ahead would otherwise hold `last_seen` in the future. */
export function notAfter(at: string, receivedAt: string): string {
  return at < receivedAt ? at : receivedAt;
}
