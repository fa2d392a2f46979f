import type { EventData } from "@lanthorn/contract/uplink";
import { toInstant } from "@lanthorn/runtime";
import type Database from "better-sqlite3";
import { type Entry, toEntry } from "./entry.ts";

/** The one row about the queue itself, as `SCHEMA` of `database.ts` explains it. `after_seq` is the last sequence acknowledged. */
export interface Meta {
  readonly queue_id: string;
  readonly next_seq: number;
  readonly after_seq: number;
  readonly events: number;
  readonly bytes: number;
  readonly dropped: number;
  readonly gap_seq: number;
}

/** An event as it is stored. `data` is JSON text; `bytes` is what it takes of the disk budget. */
export interface Row {
  readonly seq: number;
  readonly type: string;
  readonly occurred_at: string;
  readonly data: string;
  readonly bytes: number;
}

/** Why events were lost; each reason has a gap record of its own. */
export type GapReason = EventData<"queue_gap">["reason"];

/** Sequences that no longer hold what was written there. */
export interface Loss {
  readonly reason: GapReason;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly dropped: number;
  readonly since: string | null;
}

/** The queue's statements. Every change runs inside a transaction that the caller has open, and may throw SqliteError. */
export interface Rows {
  meta(): Meta;
  insert(entries: readonly Entry[]): void;
  readAfter(seq: number, limit: number): IterableIterator<Row>;
  oldest(): { readonly seq: number; readonly occurred_at: string } | undefined;
  /** Removes rows by sequence and takes them off the counters. */
  remove(seqs: { readonly from: number; readonly to: number; readonly priority?: number }): void;
  /** Oldest rows of a priority after `seq`, gap records left out: those are never dropped. */
  candidates(priority: number, seq: number): IterableIterator<{
    readonly seq: number; readonly bytes: number; readonly occurred_at: string;
  }>;
  setPosition(queueId: string, afterSeq: number): void;
  skip(count: number): void;
  /** Writes a gap record, or extends the last one when nobody has read it: after `readThrough`, for the same reason. */
  recordLoss(loss: Loss, readThrough: number, nowMs: number): void;
  /** The next loss begins a new record. */
  closeGap(): void;
}

const NOT_A_GAP = "type <> 'queue_gap'";

/** Prepares the statements; `db` stays the caller's to close. @throws SqliteError where the tables are not there. */
export function createRows(db: Database.Database): Rows {
  const {
    readMeta, insertRow, addCounts, readAfter, readOldest, readRow, sumRange, deleteRange,
    sumPriority, deletePriority, readCandidates, setPosition, replaceData, addDropped, setGap,
  } = prepareStatements(db);

  const meta = (): Meta => {
    const found = readMeta.get();
    if (!found) throw new Error("outbox_meta has no row");
    return found;
  };
  const insert = (entries: readonly Entry[]) => {
    let seq = meta().next_seq;
    let bytes = 0;
    for (const entry of entries) {
      insertRow.run(seq, entry.type, entry.priority, entry.occurredAt, entry.data, entry.bytes);
      seq += 1;
      bytes += entry.bytes;
    }
    addCounts.run(entries.length, entries.length, bytes);
  };

  return {
    meta,
    insert,
    readAfter: (seq, limit) => readAfter.iterate(seq, limit),
    oldest: () => readOldest.get(),
    remove({ from, to, priority }) {
      const sum = priority === undefined ? sumRange.get(from, to) : sumPriority.get(priority, from, to);
      if (!sum || sum.n === 0) return;
      if (priority === undefined) deleteRange.run(from, to);
      else deletePriority.run(priority, from, to);
      addCounts.run(0, -sum.n, -(sum.bytes ?? 0));
    },
    candidates: (priority, seq) => readCandidates.iterate(priority, seq),
    setPosition(queueId, afterSeq) {
      setPosition.run(queueId, afterSeq);
    },
    skip(count) {
      addCounts.run(count, 0, 0);
    },
    recordLoss(loss, readThrough, nowMs) {
      addDropped.run(loss.dropped);
      const { gap_seq, next_seq } = meta();
      const open = gap_seq > readThrough ? readRow.get(gap_seq) : undefined;
      const before = open && parseGap(open.data);
      if (open && before?.reason === loss.reason) {
        const entry = gapEntry(merge(before, loss), open.occurred_at);
        replaceData.run(entry.data, entry.bytes, gap_seq);
        addCounts.run(0, 0, entry.bytes - open.bytes);
        return;
      }
      insert([gapEntry(loss, toInstant(nowMs))]);
      setGap.run(next_seq);
    },
    closeGap() {
      setGap.run(0);
    },
  };
}

function prepareStatements(db: Database.Database) {
  return {
    readMeta: db.prepare<[], Meta>(
      "SELECT queue_id, next_seq, after_seq, events, bytes, dropped, gap_seq FROM outbox_meta WHERE id = 1",
    ),
    insertRow: db.prepare<[number, string, number, string, string, number]>("INSERT INTO outbox VALUES (?, ?, ?, ?, ?, ?)"),
    addCounts: db.prepare<[number, number, number]>(
      "UPDATE outbox_meta SET next_seq = next_seq + ?, events = events + ?, bytes = bytes + ?",
    ),
    readAfter: db.prepare<[number, number], Row>(
      "SELECT seq, type, occurred_at, data, bytes FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?",
    ),
    readOldest: db.prepare<[], { seq: number; occurred_at: string }>("SELECT seq, occurred_at FROM outbox ORDER BY seq LIMIT 1"),
    readRow: db.prepare<[number], Row>("SELECT seq, type, occurred_at, data, bytes FROM outbox WHERE seq = ?"),
    sumRange: db.prepare<[number, number], { n: number; bytes: number | null }>(
      "SELECT count(*) AS n, sum(bytes) AS bytes FROM outbox WHERE seq BETWEEN ? AND ?",
    ),
    deleteRange: db.prepare<[number, number]>("DELETE FROM outbox WHERE seq BETWEEN ? AND ?"),
    sumPriority: db.prepare<[number, number, number], { n: number; bytes: number | null }>(
      `SELECT count(*) AS n, sum(bytes) AS bytes FROM outbox WHERE priority = ? AND seq BETWEEN ? AND ? AND ${NOT_A_GAP}`,
    ),
    deletePriority: db.prepare<[number, number, number]>(
      `DELETE FROM outbox WHERE priority = ? AND seq BETWEEN ? AND ? AND ${NOT_A_GAP}`,
    ),
    readCandidates: db.prepare<[number, number], { seq: number; bytes: number; occurred_at: string }>(
      `SELECT seq, bytes, occurred_at FROM outbox WHERE priority = ? AND seq > ? AND ${NOT_A_GAP} ORDER BY seq`,
    ),
    setPosition: db.prepare<[string, number]>("UPDATE outbox_meta SET queue_id = ?, after_seq = ?"),
    replaceData: db.prepare<[string, number, number]>("UPDATE outbox SET data = ?, bytes = ? WHERE seq = ?"),
    addDropped: db.prepare<[number]>("UPDATE outbox_meta SET dropped = dropped + ?"),
    setGap: db.prepare<[number]>("UPDATE outbox_meta SET gap_seq = ?"),
  };
}

function parseGap(data: string): Loss | null {
  try {
    const gap = JSON.parse(data) as EventData<"queue_gap">;
    return { reason: gap.reason, fromSeq: gap.from_seq, toSeq: gap.to_seq, dropped: gap.dropped, since: gap.since };
  } catch {
    return null;
  }
}

function merge(a: Loss, b: Loss): Loss {
  const since = [a.since, b.since].filter((instant) => instant !== null).toSorted()[0] ?? null;
  return {
    reason: a.reason, fromSeq: Math.min(a.fromSeq, b.fromSeq), toSeq: Math.max(a.toSeq, b.toSeq), dropped: a.dropped + b.dropped, since,
  };
}

const REASON_TEXT: Readonly<Record<GapReason, string>> = {
  "disk-budget": "the probe's disk budget was spent; the oldest events of the lowest priority were dropped",
  "queue-corrupt": "the probe's queue was damaged; what could not be read was set aside",
  "collector-behind": "the collector no longer has events that it had acknowledged",
  "too-large": "an event was larger than any collector accepts",
};

function gapEntry(loss: Loss, occurredAt: string): Entry {
  return toEntry({
    type: "queue_gap",
    occurred_at: occurredAt,
    data: {
      code: "queue-gap", message: REASON_TEXT[loss.reason], reason: loss.reason,
      from_seq: loss.fromSeq, to_seq: loss.toSeq, dropped: loss.dropped, since: loss.since,
    },
  });
}
