import { type Clock, createId, type Log } from "@lanthorn/runtime";
import type Database from "better-sqlite3";
import type { Loss, Meta, Rows } from "./rows.ts";
import type { StorageGuard } from "./storage-guard.ts";

/** How far the collector has the queue, and how far it was read for the collector. */
export interface Watermark {
  /** Events up to this sequence are on their way to the collector, and the disk budget leaves them alone; 0 for none. */
  readonly readThrough: number;
  /** A batch was read whose last event has this sequence. */
  noteRead(seq: number): void;
  /** Which sequence the collector has everything up to, though the disk may not have let us write that down. */
  after(meta: Pick<Meta, "after_seq">): number;
  /** As `Outbox.acknowledge`. */
  acknowledge(queueId: string, watermark: number): "taken" | "other-queue" | "began-anew";
  /** As `Outbox.rewind`. */
  rewind(queueId: string, watermark: number): "rewound" | "already-there" | "other-queue";
  /** Writes down the last acknowledgement, if the disk did not take it before. Inside a transaction that the caller has open. */
  catchUp(): void;
}

/** Reads from `rows` where this run begins: later events are new to a collector that has more than the file. */
export function createWatermark(deps: {
  readonly db: Database.Database;
  readonly rows: Rows;
  readonly guard: Pick<StorageGuard, "attempt">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}): Watermark {
  const { db, rows, guard, clock, log } = deps;
  const firstSeqOfThisRun = rows.meta().next_seq;
  let readThrough = 0;
  let acknowledged = 0;

  const change = (work: () => void) => guard.attempt(() => db.transaction(work)());
  const after = ({ after_seq: afterSeq }: Pick<Meta, "after_seq">) => Math.max(afterSeq, acknowledged);
  const forget = (queueId: string, watermark: number) => {
    rows.remove({ from: 0, to: watermark });
    rows.setPosition(queueId, watermark);
  };

  function metaOf(queueId: string): Meta | null {
    const meta = guard.attempt(() => rows.meta())?.value;
    return meta?.queue_id === queueId ? meta : null;
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

  return {
    get readThrough() {
      return readThrough;
    },
    noteRead(seq) {
      readThrough = seq;
    },
    after,
    acknowledge(queueId, watermark) {
      const meta = metaOf(queueId);
      if (!meta) return "other-queue";
      if (watermark >= readThrough) readThrough = 0;
      if (watermark >= meta.next_seq) {
        beginAnew(watermark);
        return "began-anew";
      }
      if (watermark > after(meta)) {
        acknowledged = watermark;
        change(() => forget(queueId, watermark));
      }
      return "taken";
    },
    rewind(queueId, watermark) {
      const meta = metaOf(queueId);
      if (!meta) return "other-queue";
      readThrough = 0;
      if (watermark >= after(meta)) return "already-there";
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
    catchUp() {
      const { queue_id, after_seq } = rows.meta();
      if (acknowledged > after_seq) forget(queue_id, acknowledged);
    },
  };
}
