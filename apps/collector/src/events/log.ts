import { EVENTS, type EventType } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import type { Insertable, Kysely, Transaction } from "kysely";
import { insertMany } from "../db/write-many.ts";
import type { Schema } from "../db/schema.ts";

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

/** An event as it lies in the log. `data` is JSON text. */
export type StoredEvent = Schema["events"];

/** An event that was written a moment ago, in a transaction that is still open. `seenAt` is by our clock, never after it was received. */
export type JustAppended = StoredEvent & { readonly isLate: boolean; readonly isQuiet: boolean; readonly seenAt: string };

/**
 * What follows from events: alerts, deliveries. It runs in the transaction that writes them, so that neither is there
 * without the other; a throw undoes both.
 */
export type OnAppend = (trx: Transaction<Schema>, tenantId: string, rows: readonly JustAppended[]) => Promise<void>;

/** Events as they were just appended, in a transaction that may still be undone. */
export interface AppendedBatch {
  readonly tenantId: string;
  readonly rows: readonly JustAppended[];
  /** The tenant's `webhooks_revision`, which cannot change before the transaction ends. */
  readonly webhooksRevision: number;
}

/** The one ordered record of what happened, for each tenant. */
export interface EventLog {
  /**
   * Writes events within the caller's transaction, in order, and gives them the tenant's next sequence numbers. The tenant's
   * row stays locked until the caller commits, so numbers become visible in order and a reader never skips one.
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

/**
 * @param deps.enqueue Puts the events on their way to webhooks, in their transaction.
 * @param deps.onAppend Called after it.
 */
export function createEventLog(deps: {
  readonly reads: Kysely<Schema>;
  readonly enqueue?: (trx: Transaction<Schema>, batch: AppendedBatch) => Promise<void>;
  readonly onAppend?: OnAppend;
}): EventLog {
  return {
    async append(trx, tenantId, events) {
      const rows = events.map((event): Insertable<Schema["events"]> => ({
        tenant_id: tenantId, seq: 0, id: createId(), type: event.type, site_id: event.siteId, probe_id: event.probeId,
        device_id: event.deviceId,
        queue_id: event.queueId, probe_seq: event.probeSeq, occurred_at: event.occurredAt, received_at: event.receivedAt,
        data: JSON.stringify(event.data),
      }));
      const bytes = rows.reduce((sum, row) => sum + ROW_OVERHEAD_BYTES + row.data.length, 0);
      const { last_event_seq: toSeq, webhooks_revision: webhooksRevision } = await trx.updateTable("tenants")
        .set((eb) => ({ last_event_seq: eb("last_event_seq", "+", rows.length), event_bytes: eb("event_bytes", "+", bytes) }))
        .where("id", "=", tenantId).returning(["last_event_seq", "webhooks_revision"]).executeTakeFirstOrThrow();
      const fromSeq = toSeq - rows.length + 1;
      rows.forEach((row, index) => {
        row.seq = fromSeq + index;
      });
      await insertMany(trx, "events", rows);
      if (!deps.enqueue && !deps.onAppend) return { fromSeq, toSeq };
      const written = (rows as readonly StoredEvent[])
        .map((row, index): JustAppended => ({
          ...row, isLate: events[index]?.isLate ?? false, isQuiet: events[index]?.isQuiet ?? false, seenAt: seenAt(events[index], row),
        }));
      await deps.enqueue?.(trx, { tenantId, rows: written, webhooksRevision });
      await deps.onAppend?.(trx, tenantId, written);
      return { fromSeq, toSeq };
    },

    async read(tenantId, seq, { upTo, limit, types }) {
      let query = deps.reads.selectFrom("events").selectAll().where("tenant_id", "=", tenantId).where("seq", ">", seq)
        .where("seq", "<=", upTo);
      if (types) query = query.where("type", "in", types);
      return query.orderBy("seq").limit(limit).execute();
    },

    async reach(tenantId) {
      const row = await deps.reads.selectFrom("tenants")
        .select((eb) => [
          "last_event_seq",
          eb.selectFrom("events").select((e) => e.fn.min<number | null>("seq").as("seq")).where("tenant_id", "=", tenantId).as("first"),
        ])
        .where("id", "=", tenantId).executeTakeFirst();
      const last = row?.last_event_seq ?? 0;
      return { first: row?.first ?? last + 1, last };
    },
  };
}

/** The event types that reach the WebSocket stream. */
export const STREAMED_TYPES = (Object.keys(EVENTS) as EventType[]).filter((type) => EVENTS[type].stream !== null);

function seenAt(event: NewEvent | undefined, row: StoredEvent): string {
  return event?.seenAt ?? (row.occurred_at < row.received_at ? row.occurred_at : row.received_at);
}
