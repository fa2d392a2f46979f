import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type Database from "better-sqlite3";
import { type Entry, toEntry } from "./entry.ts";
import { createOverflow } from "./overflow.ts";
import type { Loss, Rows } from "./rows.ts";
import { shedOverBudget } from "./shed.ts";
import { classifyStorageFault } from "./storage-faults.ts";

/** Brings events into the file whatever state it is in: now, with somebody's transaction, or when the disk takes them. */
export interface Writer {
  append(events: readonly ProbeEvent[]): void;
  /** Writes what waits in memory. */
  flush(): void;
  /** Runs work on the database. @returns Null when the storage failed; what that means has been seen to. */
  attempt<T>(work: () => T): { readonly value: T } | null;
  readonly writable: boolean;
  readonly waiting: readonly Entry[];
  /** Lost from memory, not written down as lost yet. */
  readonly lostWaiting: number;
  close(): void;
}

/** How soon a disk that took nothing is tried again. */
const RETRY_MS = 1000;

/**
 * @param deps.readThrough Events up to this sequence are on their way to the collector; the disk budget leaves them alone.
 * @param deps.catchUp Changes that could not be made while the disk took nothing; runs inside the transaction of `flush`.
 * @param deps.losses To be recorded with the first write.
 */
export function createWriter(deps: {
  readonly db: Database.Database;
  readonly rows: Rows;
  readonly clock: Clock;
  readonly log: Log;
  readonly budgetBytes: number;
  readonly readThrough: () => number;
  readonly catchUp: () => void;
  readonly onAppended: () => void;
  readonly onCorrupt: (error: unknown) => void;
  readonly carry: readonly Entry[];
  readonly losses: readonly Loss[];
}): Writer {
  const { db, rows, clock, log } = deps;
  const overflow = createOverflow();
  overflow.push(deps.carry);
  let { losses } = deps;
  /** The counter after what was written inside a transaction that somebody else has open. */
  let joinedSeq: number | null = null;
  let writable = true;
  let corrupt = false;
  let cancelRetry: (() => void) | undefined;

  function attempt<T>(work: () => T): { readonly value: T } | null {
    if (corrupt) return null;
    try {
      return { value: work() };
    } catch (error) {
      onFault(error);
      return null;
    }
  }

  function onFault(error: unknown): void {
    const fault = classifyStorageFault(error);
    if (fault === null) throw error;
    if (writable) log.error({ reason: describeError(error) }, "events cannot be written; keeping them in memory");
    writable = false;
    if (fault === "corrupt") {
      corrupt = true;
      deps.onCorrupt(error);
      return;
    }
    cancelRetry ??= clock.after(RETRY_MS, () => {
      cancelRetry = undefined;
      flush();
    });
  }

  function write(entries: readonly Entry[]): void {
    rows.insert(entries);
    shedOverBudget(rows, { budgetBytes: deps.budgetBytes, readThrough: deps.readThrough(), nowMs: clock.now() });
  }

  function flush(): void {
    const { lost } = overflow;
    if (db.inTransaction || !db.open) return;
    if (writable && losses.length === 0 && lost.count === 0 && overflow.entries.length === 0) return;
    const done = attempt(() => {
      // The log is begun again from its start, so that a full disk needs to give nothing.
      if (!writable) db.pragma("wal_checkpoint(RESTART)");
      db.transaction(() => {
        deps.catchUp();
        for (const loss of losses) rows.recordLoss(loss, deps.readThrough(), clock.now());
        if (lost.count > 0) recordLost(lost);
        write(overflow.entries);
      })();
    });
    if (!done) return;
    if (!writable) log.info({ events: overflow.entries.length, dropped: lost.count }, "events can be written again");
    writable = true;
    losses = [];
    overflow.clear();
    deps.onAppended();
  }

  /** Events lost in memory get the sequences that they would have had, so that the gap record names them as any other. */
  function recordLost({ count, since }: { readonly count: number; readonly since: string | null }): void {
    const from = rows.meta().next_seq;
    rows.skip(count);
    rows.recordLoss(
      { reason: "disk-budget", fromSeq: from, toSeq: from + count - 1, dropped: count, since }, deps.readThrough(), clock.now(),
    );
  }

  function store(entries: readonly Entry[]): void {
    if (!writable || !attempt(() => db.transaction(write)(entries))) overflow.push(entries);
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
    const held = attempt(() => rows.meta().next_seq >= expected)?.value ?? false;
    if (held || (writable && attempt(() => db.transaction(write)([])))) deps.onAppended();
  }

  return {
    append(events) {
      if (events.length === 0) return;
      const entries = events.map(toEntry);
      if (db.inTransaction) return join(entries);
      store(entries);
      if (writable) deps.onAppended();
    },
    flush,
    attempt,
    get writable() {
      return writable;
    },
    get waiting() {
      return overflow.entries;
    },
    get lostWaiting() {
      return overflow.lost.count;
    },
    close() {
      flush();
      cancelRetry?.();
      cancelRetry = undefined;
      if (overflow.entries.length > 0 && !corrupt) log.error({ events: overflow.entries.length }, "events in memory could not be written");
    },
  };
}
