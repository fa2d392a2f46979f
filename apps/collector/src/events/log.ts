import { type EventData, EVENTS, type EventType } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import { CollectorError } from "../errors.ts";
import { appendRows, eventReach, readEvents, type StoredEvent } from "./log-store.ts";

/** An event that is about to be written down. `data` is what the contract's EVENTS says for the type, already checked. */
export interface NewEvent {
  readonly type: EventType;
  readonly siteId: string | null;
  readonly probeId: string | null;
  readonly deviceId: string | null;
  /** The probe's queue and the sequence in it; null for what the collector says itself. */
  readonly queueId: string | null;
  readonly probeSeq: number | null;
  readonly occurredAt: string;
  readonly receivedAt: string;
  /** When it was seen, by our clock; left out, when it occurred, or when it was received if that is earlier. */
  readonly seenAt?: string;
  readonly data: object;
  /** What is written instead of `data`, where reactions keep the rest elsewhere and for another time. */
  readonly logged?: object;
  /** It was kept back for long, by an outage: it counts and is remembered, and nobody is called for it now. */
  readonly isLate?: boolean;
  /** It counts and is on the stream, and no webhook is called for it: one of a storm, of which one alert tells. */
  readonly isQuiet?: boolean;
}

/** Where in the tenant's order a batch was put: `fromSeq` to `toSeq`, without holes. */
export interface Appended {
  readonly fromSeq: number;
  readonly toSeq: number;
}

/**
 * An event that was written a moment ago, in a transaction that is still open. `data` is what the contract's EVENTS says for its type,
 * `json` the text of it that was stored. `seenAt` is by our clock, never after it was received.
 */
export type AppendedEvent<T extends EventType = EventType> = { readonly [K in T]: Omit<StoredEvent, "type" | "data"> & {
  readonly type: K; readonly data: EventData<K>; readonly json: string; readonly isLate: boolean; readonly isQuiet: boolean;
  readonly seenAt: string;
} }[T];

/** What a reaction knows beside the events. */
export interface ReactionContext {
  readonly tenantId: string;
  /** The tenant's `webhooks_revision`, which cannot change before the transaction ends. */
  readonly webhooksRevision: number;
  /**
   * Has an event appended after all reactions have run: in the next pass, with what reacts to it. After `MAX_PASSES` the append
   * fails with `reaction-ring`, and the whole transaction is undone.
   */
  readonly raise: (event: NewEvent) => void;
}

/** What follows from events: alerts, deliveries. `createReactions` makes it of the table. */
export interface Reactions {
  /** Whether anything reacts to events of this type. */
  readonly concerns: (type: EventType) => boolean;
  /**
   * Runs in the transaction that writes the events, so that neither is there without the other; a throw undoes both.
   * @param events Those that concern anything, in the order of the log.
   */
  readonly run: (trx: Transaction<Schema>, context: ReactionContext, events: readonly AppendedEvent[]) => Promise<void>;
}

/** The one ordered record of what happened, for each tenant. */
export interface EventLog {
  /**
   * Writes events within the caller's transaction, in order, and gives them the tenant's next sequence numbers. The tenant's
   * row stays locked until the caller commits, so numbers become visible in order and a reader never skips one.
   * What follows from them (`Reactions`) runs then. The events that it raises are written after that, in passes of their own.
   * @throws CollectorError `reaction-ring`.
   * After the commit, and only then, tell `published` of the live stream.
   */
  append(trx: Transaction<Schema>, tenantId: string, events: readonly NewEvent[]): Promise<Appended>;
  /** Events after `seq` and not after `upTo` in order, at most `limit`; with `types`, only those. */
  read(
    tenantId: string, seq: number, options: { readonly upTo: number; readonly limit: number; readonly types?: readonly EventType[] },
  ): Promise<readonly StoredEvent[]>;
  /** The oldest sequence that is kept (one past the last when nothing is) and the last one given out. */
  reach(tenantId: string): Promise<{ readonly first: number; readonly last: number }>;
}

/** What a row takes beside its data: ids, times, the key and SQLite's own bytes. Measured on host_found rows. */
export const ROW_OVERHEAD_BYTES = 320;

/** @param deps.reactions What follows from events; left out, they are only written. */
export function createEventLog(deps: { readonly reads: Kysely<Schema>; readonly reactions?: Reactions }): EventLog {
  const { reactions } = deps;
  /** Writes events, and runs what follows from them once. */
  const write = async (
    trx: Transaction<Schema>, tenantId: string, events: readonly NewEvent[], raise: ReactionContext["raise"],
  ): Promise<Appended> => {
    const rows = events.map((event): StoredEvent & { readonly type: EventType } => ({
      tenant_id: tenantId, seq: 0, id: createId(), type: event.type, site_id: event.siteId, probe_id: event.probeId,
      device_id: event.deviceId,
      queue_id: event.queueId, probe_seq: event.probeSeq, occurred_at: event.occurredAt, received_at: event.receivedAt,
      data: JSON.stringify(event.logged ?? event.data),
    }));
    const bytes = rows.reduce((sum, row) => sum + ROW_OVERHEAD_BYTES + row.data.length, 0);
    const { toSeq, webhooksRevision } = await appendRows(trx, tenantId, rows, bytes);
    const followed = reactions ? rows.flatMap((row, index) => (reactions.concerns(row.type) ? asAppended(row, events[index]) : [])) : [];
    if (followed.length > 0) await reactions?.run(trx, { tenantId, webhooksRevision, raise }, followed);
    return { fromSeq: toSeq - rows.length + 1, toSeq };
  };
  return {
    async append(trx, tenantId, events) {
      let raised: NewEvent[] = [];
      const raise = (event: NewEvent) => void raised.push(event);
      const appended = await write(trx, tenantId, events, raise);
      for (let pass = 2; raised.length > 0; pass += 1) {
        if (pass > MAX_PASSES) throw ringOf(raised);
        const next = raised;
        raised = [];
        await write(trx, tenantId, next, raise);
      }
      return appended;
    },

    read: (tenantId, seq, options) => readEvents(deps.reads, tenantId, seq, options),

    reach: (tenantId) => eventReach(deps.reads, tenantId),
  };
}

/** A fact, what a service concludes from it, and the alert about that: three. More is a ring. */
const MAX_PASSES = 3;

/** The event types that reach the WebSocket stream. */
export const STREAMED_TYPES = (Object.keys(EVENTS) as EventType[]).filter((type) => EVENTS[type].stream !== null);

function ringOf(raised: readonly NewEvent[]): CollectorError {
  const types = [...new Set(raised.map(({ type }) => type))].join(", ");
  return new CollectorError("reaction-ring", `reactions still raise ${types} after ${MAX_PASSES} passes: the table of reactions has a cycle`);
}

/** The one place where the type of an event and its data are put together again. */
function asAppended({ data: json, ...row }: StoredEvent, event: NewEvent | undefined): AppendedEvent | readonly [] {
  if (!event) return [];
  const { isLate = false, isQuiet = false, data } = event;
  const seenAt = event.seenAt ?? (row.occurred_at < row.received_at ? row.occurred_at : row.received_at);
  return { ...row, data, json, isLate, isQuiet, seenAt } as AppendedEvent;
}
