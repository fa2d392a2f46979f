import type { ProbeEvent } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import type Database from "better-sqlite3";
import { type Entry, toEntry } from "./entry.ts";
import { createOverflow } from "./overflow.ts";
import type { Loss, Rows } from "./rows.ts";
import { shedOverBudget } from "./shed.ts";
import type { StorageGuard } from "./storage-guard.ts";
import type { Watermark } from "./watermark.ts";

/** Brings events into the file whatever state it is in: now, with somebody's transaction, or when the disk takes them. */
export interface Writer {
  append(events: readonly ProbeEvent[]): void;
  /** Writes what waits in memory. */
  flush(): void;
  readonly waiting: readonly Entry[];
  /** Lost from memory, not written down as lost yet. */
  readonly lostWaiting: number;
  close(): void;
}

/**
 * @param deps.watermark What is on its way to the collector, which the disk budget leaves alone.
 * @param deps.carry Entries that an earlier writer could not write.
 * @param deps.losses To be recorded with the first write.
 */
export function createWriter(deps: {
  readonly db: Database.Database;
  readonly rows: Rows;
  readonly guard: StorageGuard;
  readonly watermark: Pick<Watermark, "readThrough" | "catchUp">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly budgetBytes: number;
  readonly onAppended: () => void;
  readonly carry: readonly Entry[];
  readonly losses: readonly Loss[];
}): Writer {
  const { db, rows, guard, watermark, clock, log } = deps;
  const overflow = createOverflow();
  overflow.push(deps.carry);
  let { losses } = deps;
  /** The counter after what was written inside a transaction that somebody else has open. */
  let joinedSeq: number | null = null;

  function write(entries: readonly Entry[]): void {
    rows.insert(entries);
    shedOverBudget(rows, { budgetBytes: deps.budgetBytes, readThrough: watermark.readThrough, nowMs: clock.now() });
  }

  function flush(): void {
    const { lost } = overflow;
    if (db.inTransaction || !db.open) return;
    if (guard.isWritable && losses.length === 0 && lost.count === 0 && overflow.entries.length === 0) return;
    const done = guard.attempt(() => {
      // The log is begun again from its start, so that a full disk needs to give nothing.
      if (!guard.isWritable) db.pragma("wal_checkpoint(RESTART)");
      db.transaction(() => {
        watermark.catchUp();
        for (const loss of losses) rows.recordLoss(loss, watermark.readThrough, clock.now());
        if (lost.count > 0) rows.recordLoss(lossOf(rows, lost), watermark.readThrough, clock.now());
        write(overflow.entries);
      })();
    });
    if (!done) return;
    if (!guard.isWritable) log.info({ events: overflow.entries.length, dropped: lost.count }, "events can be written again");
    guard.recovered();
    losses = [];
    overflow.clear();
    deps.onAppended();
  }

  /** Transactions are synchronous, so by the next microtask the one that was joined has ended, one way or the other. */
  function join(entries: readonly Entry[]): void {
    if (joinedSeq === null) queueMicrotask(settle);
    joinedSeq = rows.meta().next_seq + entries.length;
    write(entries);
  }

  /** A transaction that did not hold may mean that the disk takes nothing any more; a write of our own finds out. */
  function settle(): void {
    const expected = joinedSeq ?? 0;
    joinedSeq = null;
    if (db.inTransaction || !db.open) return;
    const held = guard.attempt(() => rows.meta().next_seq >= expected)?.value ?? false;
    if (held || (guard.isWritable && guard.attempt(() => db.transaction(write)([])))) deps.onAppended();
  }

  return {
    append(events) {
      if (events.length === 0) return;
      const entries = events.map(toEntry);
      if (db.inTransaction) return join(entries);
      if (!guard.isWritable || !guard.attempt(() => db.transaction(write)(entries))) overflow.push(entries);
      if (guard.isWritable) deps.onAppended();
    },
    flush,
    get waiting() {
      return overflow.entries;
    },
    get lostWaiting() {
      return overflow.lost.count;
    },
    close() {
      flush();
      guard.close();
      if (overflow.entries.length > 0 && !guard.isCorrupt) log.error({ events: overflow.entries.length }, "events in memory could not be written");
    },
  };
}

/** Events lost in memory get the sequences that they would have had, so that the gap record names them as any other. */
function lossOf(rows: Rows, { count, since }: { readonly count: number; readonly since: string | null }): Loss {
  const from = rows.meta().next_seq;
  rows.skip(count);
  return { reason: "disk-budget", fromSeq: from, toSeq: from + count - 1, dropped: count, since };
}
