import type { ProbeEvent } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import type Database from "better-sqlite3";
import type { Entry } from "./entry.ts";
import type { Quarantined } from "./quarantine.ts";
import { createRows, type GapReason, type Row } from "./rows.ts";
import { readSendable } from "./sendable.ts";
import { createStorageGuard } from "./storage-guard.ts";
import { createWatermark } from "./watermark.ts";
import { createWriter } from "./writer.ts";

/** Events on their way to the collector: the oldest ones after `after`, in order. `data` is JSON text. */
export interface OutboxBatch {
  readonly queueId: string;
  readonly after: number;
  readonly events: readonly Pick<Row, "seq" | "type" | "occurred_at" | "data">[];
}

/** How full the queue is, and how far it was sent. `bytes` is as `Entry` counts them; `after` and `lastSeq` are sequence numbers. */
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
  const guard = createStorageGuard({
    clock, log, onRetry: () => writer.flush(), onCorrupt: deps.onCorrupt ?? (() => undefined),
  });
  const watermark = createWatermark({ db, rows, guard, clock, log });
  const writer = createWriter({
    db, rows, guard, watermark, clock, log,
    budgetBytes: deps.budgetBytes,
    onAppended: deps.onAppended,
    carry: deps.carry ?? [],
    losses: deps.quarantined ? [{ reason: "queue-corrupt", fromSeq: 0, toSeq: 0, dropped: 0, since: null }] : [],
  });
  const change = (work: () => void) => guard.attempt(() => db.transaction(work)());

  function discard(seq: number, reason: GapReason): void {
    change(() => {
      rows.remove({ from: seq, to: seq });
      rows.recordLoss(
        { reason, fromSeq: seq, toSeq: seq, dropped: 1, since: null }, Math.max(watermark.readThrough, seq), clock.now(),
      );
    });
  }

  // A gap record of an earlier run may have been sent already: what is lost from here on gets its own.
  change(() => rows.closeGap());
  writer.flush();

  return {
    append: (events) => writer.append(events),
    take({ maxEvents, maxBytes }) {
      for (;;) {
        const found = guard.attempt(() => {
          const meta = rows.meta();
          const after = watermark.after(meta);
          return { queueId: meta.queue_id, after, ...readSendable(rows.readAfter(after, maxEvents), maxBytes) };
        })?.value;
        if (!found) return null;
        const { queueId, after, events, refused } = found;
        watermark.noteRead(events.at(-1)?.seq ?? 0);
        if (events.length > 0) return { queueId, after, events };
        if (!refused || !guard.isWritable) return null;
        log.error({ seq: refused.seq, reason: refused.reason }, "an event cannot be sent; dropped");
        discard(refused.seq, refused.reason);
      }
    },
    acknowledge: (queueId, seq) => watermark.acknowledge(queueId, seq),
    rewind: (queueId, seq) => watermark.rewind(queueId, seq),
    discard,
    state() {
      const read = guard.attempt(() => ({ ...rows.meta(), oldestAt: rows.oldest()?.occurred_at ?? null }))?.value;
      return {
        queueId: read?.queue_id ?? "", events: read?.events ?? 0, bytes: read?.bytes ?? 0, oldestAt: read?.oldestAt ?? null,
        dropped: (read?.dropped ?? 0) + writer.lostWaiting, after: watermark.after({ after_seq: read?.after_seq ?? 0 }),
        lastSeq: (read?.next_seq ?? 1) - 1, writable: guard.isWritable, inMemory: writer.waiting.length,
      };
    },
    tidy() {
      guard.attempt(() => {
        if (Number(db.pragma("freelist_count", { simple: true })) > VACUUM_KEEP_PAGES) db.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
      });
    },
    unwritten: () => writer.waiting,
    close: () => writer.close(),
  };
}
