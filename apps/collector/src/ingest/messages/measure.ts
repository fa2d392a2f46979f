import type { RefusalReason } from "../../broker/broker.ts";

/** Told by ingest of what it does, for who counts. */
export interface IngestMeasure {
  /**
   * A batch is committed.
   * @param batch.seconds From its arrival to its commit; `ageSeconds` from when the probe sent it, by the probe's clock.
   */
  batch(batch: { readonly stored: number; readonly rejected: number; readonly seconds: number; readonly ageSeconds: number }): void;
  /** A transaction that several batches may share is committed. @param batches How many do. */
  transaction(batches: number): void;
  refused(reason: RefusalReason): void;
}
