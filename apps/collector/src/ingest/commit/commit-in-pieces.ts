import type { Batch } from "@lanthorn/contract";
import type { Committed } from "./commit-batch.ts";
import type { GroupCommit } from "./group-commit.ts";
import { type ProbeSite, readEvents } from "../messages/read-batch.ts";

/**
 * Of a batch's JSON in one transaction. 500 events of a kilobyte are two; 4 MiB of evidence held everybody else up for a second as one.
 */
const PIECE_BYTES = 256 * 1024;

/** What became of a batch, and how many of its events are in the log. */
export interface CommittedBatch extends Omit<Committed, "appended"> {
  readonly stored: number;
}

/**
 * Reads and commits a large batch piece by piece, so that others come in between. Each piece moves the queue's watermark: what fails
 * later leaves those before it committed, and the batch may come again.
 * @param batch.jsonBytes The length of its JSON, by which it is divided evenly.
 */
export async function commitInPieces(group: GroupCommit, probe: ProbeSite, { batch, jsonBytes }: {
  readonly batch: Batch; readonly jsonBytes: number;
}, reading: Parameters<typeof readEvents>[1]): Promise<CommittedBatch> {
  const { receivedAt } = reading;
  const size = Math.max(1, Math.ceil(batch.events.length / Math.ceil(jsonBytes / PIECE_BYTES)));
  let done: CommittedBatch = { watermark: batch.after, refusal: null, rejected: 0, rejectedBytes: 0, stored: 0 };
  for (let at = 0; at === 0 || (at < batch.events.length && done.refusal === null); at += size) {
    const events = batch.events.slice(at, at + size);
    const after = batch.events[at - 1]?.seq ?? batch.after;
    const { appended, ...piece } = await group.commit({ probe, receivedAt, batch: readEvents({ ...batch, after, events }, reading) });
    const stored = appended ? appended.toSeq - appended.fromSeq + 1 : 0;
    done = {
      ...piece, rejected: done.rejected + piece.rejected, rejectedBytes: done.rejectedBytes + piece.rejectedBytes, stored: done.stored + stored,
    };
  }
  return done;
}
