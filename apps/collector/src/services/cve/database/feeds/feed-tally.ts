import type { FeedOutcome } from "../import-types.ts";
import type { RecordOutcome } from "../record-writer.ts";

/** Counts what becomes of a feed's records. */
export interface FeedTally {
  took(outcome: RecordOutcome, reason: string | null): void;
  /** A record that was taken says no longer what it affects. */
  lost(): void;
  /** Elements that were no records at all. */
  refused(reason: string, count: number): void;
  counts(): Pick<FeedOutcome, "records" | "added" | "changed" | "older" | "withdrawn" | "refused" | "reasons">;
  /** Why so many were refused that all of the feed is in doubt; null where few were. */
  doubt(): string | null;
  /** That of what was changed, so much says no longer what it affects. */
  doubtOfLost(): string | null;
}

const MAX_REASONS = 20;
const MAX_REFUSED_SHARE = 0.05;
/** Some bad records are no bad feed, also where it has few. */
const MIN_REFUSED = 20;
/** Of records that have changed. Analysts take back what a record affects one by one. */
const MAX_LOST_SHARE = 0.2;

/** @param onRecord Called with how many there were so far, at each. */
export function createFeedTally(onRecord: (records: number) => void): FeedTally {
  const outcomes = { added: 0, changed: 0, older: 0, withdrawn: 0, refused: 0 };
  const reasons = new Map<string, number>();
  let [records, lost] = [0, 0];
  const sorted = () => [...reasons].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count).slice(0, MAX_REASONS);
  return {
    took(outcome, reason) {
      outcomes[outcome] += 1;
      records += 1;
      if (reason !== null) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      onRecord(records);
    },
    lost() {
      lost += 1;
    },
    refused(reason, count) {
      outcomes.refused += count;
      records += count;
      reasons.set(reason, (reasons.get(reason) ?? 0) + count);
    },
    doubtOfLost: () => (lost < MIN_REFUSED || lost <= outcomes.changed * MAX_LOST_SHARE ? null
      : `${lost} of ${outcomes.changed} records that have changed say no longer what they affect`),
    counts: () => ({ records, ...outcomes, reasons: sorted() }),
    doubt() {
      const { refused } = outcomes;
      if (refused < MIN_REFUSED || refused <= records * MAX_REFUSED_SHARE) return null;
      return `${refused} of its ${records} records cannot be read (${sorted().map(({ reason, count }) => `${count} ${reason}`).slice(0, 3).join(", ")})`;
    },
  };
}
