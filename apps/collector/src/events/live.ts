import { EVENTS, type EventType, type StreamEvent } from "@lanthorn/contract";
import { type Clock, createId, describeError, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import { gapFrame, toFrame } from "./frames.ts";
import type { StoredEvent } from "./log-store.ts";
import { type EventLog, STREAMED_TYPES } from "./log.ts";

/** Where one subscriber's frames go. */
export interface Consumer {
  /** Takes a frame as JSON text, at once. */
  deliver(frame: string): void;
  /** Resolves when what was delivered has mostly gone out, or can go nowhere any more. */
  drained(): Promise<void>;
  /** The stream cannot go on: the log could not be read. */
  failed(): void;
}

interface SubscribeOptions {
  readonly tenantId: string;
  /** The last sequence that the subscriber has. */
  readonly since: number;
  /** Null for all. */
  readonly events: ReadonlySet<StreamEvent> | null;
  readonly siteId: string | null;
}

/** Brings committed events to those who watch. */
export interface LiveEvents {
  /** Events from `fromSeq` on are committed. Cheap when nobody watches the tenant. */
  published(tenantId: string, fromSeq: number): void;
  /** Looks for what others have committed, for everybody who watches. */
  refresh(): void;
  /** The tenant's last sequence now: who has it gets what comes from now on. */
  last(tenantId: string): Promise<number>;
  /** Every event after `since` that passes the filters, once and in order. @returns What ends it. */
  subscribe(options: SubscribeOptions, consumer: Consumer): () => void;
}

interface Subscriber extends SubscribeOptions {
  readonly consumer: Consumer;
  /** The last sequence that this subscriber was given, or that its filters left out. */
  cursor: number;
  ended: boolean;
}

interface TenantStream {
  /** The last sequence that was published to `live`. */
  position: number;
  /** Those who have everything up to `position`. */
  readonly live: Set<Subscriber>;
  reading: boolean;
  again: boolean;
  /** Counts the calls of `published`, for who must know whether there was one since. */
  publications: number;
}

const READ_EVENTS = 200;
/** The log is mostly events that do not reach the stream: no one read walks over more than this, some milliseconds' worth. */
const READ_SPAN = 2000;

/**
 * A subscriber reads the log by itself until it has caught up with its tenant's position, and then gets what the one
 * shared reader finds: an event is read once for all subscribers. Whether it has caught up is asked in the same turn of the
 * event loop in which it joins, so nothing falls between the two and nothing comes twice.
 */
export function createLiveEvents(deps: { readonly log: EventLog; readonly clock: Clock; readonly logger: Log }): LiveEvents {
  const streams = new Map<string, TenantStream>();

  const publishLive = async (tenantId: string, stream: TenantStream): Promise<void> => {
    stream.reading = true;
    try {
      do {
        stream.again = false;
        const { rows, upTo, more } = await readNext(deps.log, tenantId, stream.position);
        for (const row of rows) {
          const frame = lazy(() => toFrame(row));
          for (const subscriber of stream.live) give(subscriber, row, frame);
        }
        stream.position = Math.max(stream.position, upTo);
        if (more) await nextTurn();
        stream.again ||= more;
      } while (stream.again && stream.live.size > 0);
    } finally {
      // In the same turn as the question above: a publication must find either `again` heard or `reading` over.
      stream.reading = false;
    }
  };

  const catchUp = async (subscriber: Subscriber, stream: TenantStream): Promise<void> => {
    const { tenantId, since, consumer } = subscriber;
    const { cursor, gapAfter } = beginAt(since, await deps.log.reach(tenantId));
    subscriber.cursor = cursor;
    if (gapAfter !== null) consumer.deliver(gapFrame({ id: createId(), timestamp: toInstant(deps.clock.now()), since: gapAfter, seq: cursor }));
    while (!subscriber.ended) {
      const { publications } = stream;
      const { rows, upTo, more } = await readNext(deps.log, tenantId, subscriber.cursor);
      for (const row of rows) {
        if (subscriber.ended) return;
        if (give(subscriber, row, () => toFrame(row))) await consumer.drained();
      }
      subscriber.cursor = upTo;
      if (stream.live.size === 0 && !stream.reading) stream.position = Math.max(stream.position, subscriber.cursor);
      if (!more && publications === stream.publications && subscriber.cursor >= stream.position && !subscriber.ended) {
        stream.live.add(subscriber);
        return;
      }
      await nextTurn();
    }
  };

  const published = (tenantId: string) => {
    const stream = streams.get(tenantId);
    if (!stream) return;
    stream.publications += 1;
    stream.again = true;
    if (stream.reading || stream.live.size === 0) return;
    publishLive(tenantId, stream).catch((error: unknown) => {
      deps.logger.error({ reason: describeError(error) }, "the event log could not be read for the live stream");
      for (const { consumer } of stream.live) consumer.failed();
    });
  };

  return {
    published: (tenantId) => published(tenantId),
    refresh() {
      for (const [tenantId, { live }] of streams) if (live.size > 0) published(tenantId);
    },

    last: async (tenantId) => (await deps.log.reach(tenantId)).last,

    subscribe(options, consumer) {
      const stream = streams.get(options.tenantId) ?? { position: 0, live: new Set(), reading: false, again: false, publications: 0 };
      streams.set(options.tenantId, stream);
      const subscriber: Subscriber = { ...options, consumer, cursor: 0, ended: false };
      catchUp(subscriber, stream).catch((error: unknown) => {
        deps.logger.error({ reason: describeError(error) }, "the event log could not be read for a subscriber");
        consumer.failed();
      });
      return () => {
        subscriber.ended = true;
        stream.live.delete(subscriber);
      };
    },
  };
}

/** Where a subscriber begins to read. `gapAfter`: what it has, where the log does not go on from there; else null. */
function beginAt(since: number, { first, last }: { readonly first: number; readonly last: number }) {
  if (since > last) return { cursor: last, gapAfter: since };
  return since + 1 < first ? { cursor: first - 1, gapAfter: since } : { cursor: since, gapAfter: null };
}

/** Reads the next stretch of the log. `upTo`: everything to there was looked at. */
async function readNext(log: EventLog, tenantId: string, cursor: number): Promise<{
  readonly rows: readonly StoredEvent[]; readonly upTo: number; readonly more: boolean;
}> {
  const { last } = await log.reach(tenantId);
  if (last <= cursor) return { rows: [], upTo: cursor, more: false };
  // Nothing after `last`, which was committed before the read began: below it there are no holes still to be filled.
  const spanEnd = Math.min(last, cursor + READ_SPAN);
  const rows = await log.read(tenantId, cursor, { upTo: spanEnd, limit: READ_EVENTS, types: STREAMED_TYPES });
  const upTo = rows.length === READ_EVENTS ? (rows.at(-1)?.seq ?? spanEnd) : spanEnd;
  return { rows, upTo, more: upTo < last };
}

/** @returns Whether the subscriber wanted it. */
function give(subscriber: Subscriber, row: StoredEvent, frame: () => string): boolean {
  if (row.seq <= subscriber.cursor) return false;
  subscriber.cursor = row.seq;
  const event = EVENTS[row.type as EventType].stream;
  const wanted = event !== null && (subscriber.events?.has(event) ?? true)
    && (subscriber.siteId === null || row.site_id === subscriber.siteId);
  if (wanted) subscriber.consumer.deliver(frame());
  return wanted;
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
