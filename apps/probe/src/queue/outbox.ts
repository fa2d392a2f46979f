import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, createId, type Log } from "@lanthorn/runtime";
import type Database from "better-sqlite3";
import type { Entry } from "./entry.ts";
import type { Quarantined } from "./quarantine.ts";
import { createRows, type GapReason, type Loss, type Row } from "./rows.ts";
import { readSendable } from "./sendable.ts";
import { createWriter } from "./writer.ts";

/** Events on their way to the collector: the oldest ones after `after`, in order. `data` is JSON text. */
export interface OutboxBatch {
  readonly queueId: string;
  readonly after: number;
  readonly events: readonly Pick<Row, "seq" | "type" | "occurred_at" | "data">[];
}

export interface OutboxState {
  readonly queueId: string;
  readonly events: number;
  readonly bytes: number;
  readonly oldestAt: string | null;
  /** Events lost since the queue was made. */
  readonly dropped: number;
  readonly after: number;
  readonly lastSeq: number;
  /** False while the disk takes nothing; `inMemory` events wait for it. */
  readonly writable: boolean;
  readonly inMemory: number;
}

/** The queue between what the probe sees and the collector. No method throws for a fault of the storage, but see `append`. */
export interface Outbox {
  /**
   * Writes events down, each with the next sequence number; when the disk takes nothing, they wait in memory. Inside an
   * open `db.transaction` it becomes part of that: what is rolled back with it was never appended, and is the caller's.
   * @throws SqliteError inside a transaction only, so that it is rolled back.
   */
  append(events: readonly ProbeEvent[]): void;
  /** The next events to send, or null. The disk budget leaves them alone until `acknowledge` or `rewind`. */
  take(limits: { readonly maxEvents: number; readonly maxBytes: number }): OutboxBatch | null;
  /**
   * Forgets everything up to `watermark`. `began-anew`: the collector has sequences that this file never gave out (it was
   * restored from an older copy), so the queue goes on under a new name, where nothing is taken for a repetition.
   */
  acknowledge(queueId: string, watermark: number): "taken" | "other-queue" | "began-anew";
  /** Goes back to what the collector still has; events that no longer exist become a gap record. */
  rewind(queueId: string, watermark: number): "rewound" | "already-there" | "other-queue";
  /** Gives up one event that can never be sent, and records the gap. */
  discard(seq: number, reason: GapReason): void;
  state(): OutboxState;
  /** Gives freed space back to the file system, a piece at each call. */
  tidy(): void;
  /** What is only in memory, for the outbox of the file that replaces this one. */
  unwritten(): readonly Entry[];
  /** A last attempt to write what is in memory. The database is the caller's to close. */
  close(): void;
}

/** 8 MiB at a call of `tidy` every 30 s: a full default budget is given back in half an hour, and no call takes long. */
const VACUUM_PAGES = 2048;
/** Free pages kept for the next events, 4 MiB. */
const VACUUM_KEEP_PAGES = 1024;

/**
 * @param deps.onAppended Called after events are committed, never before.
 * @param deps.onCorrupt Called once, when the file turns out to be damaged: it needs to be replaced.
 * @param deps.quarantined The file that this one replaces, to be reported as a gap.
 * @param deps.carry What the outbox of that file could not write.
 */
export function createOutbox(deps: {
  readonly db: Database.Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly budgetBytes: number;
  readonly onAppended: () => void;
  readonly onCorrupt?: (error: unknown) => void;
  readonly quarantined?: Quarantined | null;
  readonly carry?: readonly Entry[];
}): Outbox {
  const { db, clock, log } = deps;
  const rows = createRows(db);
  const firstSeqOfThisRun = rows.meta().next_seq;
  let readThrough = 0;
  /** Acknowledged, though the disk may not have let us write that down. */
  let acknowledged = 0;

  const position = (afterSeq: number) => Math.max(afterSeq, acknowledged);
  const forget = (queueId: string, watermark: number) => {
    rows.remove({ from: 0, to: watermark });
    rows.setPosition(queueId, watermark);
  };
  const writer = createWriter({
    db, rows, clock, log,
    budgetBytes: deps.budgetBytes,
    readThrough: () => readThrough,
    catchUp() {
      const { queue_id, after_seq } = rows.meta();
      if (acknowledged > after_seq) forget(queue_id, acknowledged);
    },
    onAppended: deps.onAppended,
    onCorrupt: deps.onCorrupt ?? (() => undefined),
    carry: deps.carry ?? [],
    losses: deps.quarantined ? [{ reason: "queue-corrupt", fromSeq: 0, toSeq: 0, dropped: 0, since: null }] : [],
  });
  const change = (work: () => void) => writer.attempt(() => db.transaction(work)());

  function metaOf(queueId: string) {
    const meta = writer.attempt(() => rows.meta())?.value;
    return meta?.queue_id === queueId ? meta : null;
  }

  function discard(seq: number, reason: GapReason): void {
    change(() => {
      rows.remove({ from: seq, to: seq });
      rows.recordLoss({ reason, fromSeq: seq, toSeq: seq, dropped: 1, since: null }, Math.max(readThrough, seq), clock.now());
    });
  }

  /** What was in the file when this run began is what the copy and the collector have in common; later events are new. */
  function beginAnew(watermark: number): void {
    log.error({ watermark }, "the collector has more events than this queue ever held; starting a new queue");
    acknowledged = 0;
    change(() => {
      rows.remove({ from: 0, to: Math.min(watermark, firstSeqOfThisRun - 1) });
      rows.setPosition(createId(), 0);
    });
  }

  // A gap record of an earlier run may have been sent already: what is lost from here on gets its own.
  change(() => rows.closeGap());
  writer.flush();

  return {
    append: (events) => writer.append(events),
    take({ maxEvents, maxBytes }) {
      for (;;) {
        const found = writer.attempt(() => {
          const { queue_id, after_seq } = rows.meta();
          const after = position(after_seq);
          return { queueId: queue_id, after, ...readSendable(rows.readAfter(after, maxEvents), maxBytes) };
        })?.value;
        if (!found) return null;
        const { queueId, after, events, refused } = found;
        readThrough = events.at(-1)?.seq ?? 0;
        if (events.length > 0) return { queueId, after, events };
        if (!refused || !writer.writable) return null;
        log.error({ seq: refused.seq, reason: refused.reason }, "an event cannot be sent; dropped");
        discard(refused.seq, refused.reason);
      }
    },
    acknowledge(queueId, watermark) {
      const meta = metaOf(queueId);
      if (!meta) return "other-queue";
      if (watermark >= readThrough) readThrough = 0;
      if (watermark >= meta.next_seq) {
        beginAnew(watermark);
        return "began-anew";
      }
      if (watermark > position(meta.after_seq)) {
        acknowledged = watermark;
        change(() => forget(queueId, watermark));
      }
      return "taken";
    },
    rewind(queueId, watermark) {
      const meta = metaOf(queueId);
      if (!meta) return "other-queue";
      readThrough = 0;
      if (watermark >= position(meta.after_seq)) return "already-there";
      acknowledged = Math.min(acknowledged, watermark);
      if (watermark < meta.after_seq) {
        const loss: Loss = {
          reason: "collector-behind", fromSeq: watermark + 1, toSeq: meta.after_seq, dropped: meta.after_seq - watermark, since: null,
        };
        change(() => {
          rows.setPosition(queueId, watermark);
          rows.recordLoss(loss, 0, clock.now());
        });
      }
      return "rewound";
    },
    discard,
    state() {
      const read = writer.attempt(() => ({ ...rows.meta(), oldestAt: rows.oldest()?.occurred_at ?? null }))?.value;
      return {
        queueId: read?.queue_id ?? "", events: read?.events ?? 0, bytes: read?.bytes ?? 0, oldestAt: read?.oldestAt ?? null,
        dropped: (read?.dropped ?? 0) + writer.lostWaiting, after: position(read?.after_seq ?? 0), lastSeq: (read?.next_seq ?? 1) - 1,
        writable: writer.writable, inMemory: writer.waiting.length,
      };
    },
    tidy() {
      writer.attempt(() => {
        if (Number(db.pragma("freelist_count", { simple: true })) > VACUUM_KEEP_PAGES) db.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
      });
    },
    unwritten: () => writer.waiting,
    close: () => writer.close(),
  };
}
