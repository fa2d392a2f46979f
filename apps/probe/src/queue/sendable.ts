import { parseJson } from "@lanthorn/runtime";
import type { GapReason, Row } from "./rows.ts";

/** Names, punctuation, sequence, type and time around an event's data in a batch. */
const ROW_ENVELOPE_BYTES = 200;

interface Sendable {
  readonly events: readonly Row[];
  /** The first row of all, when it can never be sent. */
  readonly refused: { readonly seq: number; readonly reason: GapReason } | null;
}

/** As many rows as fit into `maxBytes` of JSON, up to the first that cannot be sent. */
export function readSendable(found: Iterable<Row>, maxBytes: number): Sendable {
  const events: Row[] = [];
  let bytes = 0;
  for (const row of found) {
    const size = Buffer.byteLength(row.data) + ROW_ENVELOPE_BYTES;
    // A disk that turned a bit in a row leaves the file sound and the row unreadable.
    const reason = size > maxBytes ? "too-large" : parseJson(row.data) === undefined ? "queue-corrupt" : null;
    if (reason !== null && events.length === 0) return { events, refused: { seq: row.seq, reason } };
    if (reason !== null || bytes + size > maxBytes) break;
    events.push(row);
    bytes += size;
  }
  return { events, refused: null };
}
