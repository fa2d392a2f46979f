import type { Clock } from "@lanthorn/runtime";
import type Database from "better-sqlite3";

/** SQLite's own check reads every page without a stop; up to this size that takes about a second on an SD card. */
const WHOLE_CHECK_MAX_BYTES = 32 * 1024 * 1024;

/** How long rows of a larger file are read; a probe must be watching soon after its start. */
const ROW_CHECK_MS = 2000;
const ROWS_AT_ONCE = 500;

/**
 * Looks for damage, for a bounded time.
 * @returns What is wrong in words, or null. Damage that it does not reach is met later, when the page is read.
 * @throws SqliteError when the damage shows itself in reading.
 */
export function checkIntegrity(db: Database.Database, clock: Clock): string | null {
  const size = Number(db.pragma("page_count", { simple: true })) * Number(db.pragma("page_size", { simple: true }));
  if (size <= WHOLE_CHECK_MAX_BYTES) {
    const answer = String(db.pragma("quick_check(1)", { simple: true }));
    if (answer !== "ok") return answer;
  } else {
    readRows(db, clock);
  }
  return checkCounters(db);
}

function readRows(db: Database.Database, clock: Clock): void {
  const page = db.prepare<[number], { readonly seq: number }>(
    `SELECT seq, length(data) FROM outbox WHERE seq > ? ORDER BY seq LIMIT ${ROWS_AT_ONCE}`,
  );
  const startedAt = clock.monotonic();
  let last = 0;
  while (clock.monotonic() - startedAt < ROW_CHECK_MS) {
    const rows = page.all(last);
    last = rows.at(-1)?.seq ?? last;
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

/** A counter below a row's sequence would give that sequence out twice, and the collector would drop the second event. */
function checkCounters(db: Database.Database): string | null {
  const meta = db.prepare<[], { readonly queue_id: string; readonly next_seq: number; readonly after_seq: number }>(
    "SELECT queue_id, next_seq, after_seq FROM outbox_meta WHERE id = 1",
  ).get();
  const last = db.prepare<[], { readonly seq: number | null }>("SELECT max(seq) AS seq FROM outbox").get()?.seq ?? 0;
  if (!meta || !/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/.test(meta.queue_id)) return "the queue has no identity";
  if (meta.next_seq <= last || meta.after_seq >= meta.next_seq) return "the queue's counters contradict its rows";
  return null;
}
