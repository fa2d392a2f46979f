import type { Transaction } from "kysely";
import { listQuery } from "../../db/query/list-query.ts";
import type { Schema } from "../../db/schema.ts";
import { among } from "../../db/query/select-in.ts";
import { insertMany, upsertMany } from "../../db/query/write-many.ts";
import type { Delivered } from "../messages/read-batch.ts";

/**
 * Queues that a probe may begin within an hour. A probe makes a new one only when it is set up, or when its database was broken or
 * forgotten; each that is begun is a row that is kept.
 */
export const MAX_NEW_QUEUES = 10;
const WINDOW_MS = 3_600_000;

/** Where the queues of some batches are. */
export interface ProbeQueues {
  /** @returns Null for a queue that no event was taken from. */
  watermark(probeId: string, queueId: string): number | null;
  /** Whether it would be one new queue too many. */
  isRefused(probeId: string, queueId: string): boolean;
}

const queuesOf = listQuery((db, list: readonly (readonly [probeId: string, queueId: string])[]) =>
  db.selectFrom("probe_queues").select(["probe_id", "queue_id", "watermark"]).where(among(["probe_id", "queue_id"], list)));

/**
 * Reads the queues of these batches, and no other of their probes: of the rest only counts those that were begun lately, and only for
 * a probe that begins one now.
 * @param deliveries No two of one probe.
 */
export async function readQueues(trx: Transaction<Schema>, deliveries: readonly Delivered[]): Promise<ProbeQueues> {
  const wanted = deliveries.map(({ probe, batch }) => [probe.probeId, batch.queueId] as const);
  const rows = await queuesOf(trx, wanted);
  const watermarks = new Map(rows.map((row) => [keyOf(row.probe_id, row.queue_id), row.watermark]));
  const tooMany = new Set<string>();
  for (const { probe: { probeId }, batch, receivedAt } of deliveries) {
    if (watermarks.has(keyOf(probeId, batch.queueId))) continue;
    // One that was begun since then was also moved since then, by which there is an index.
    const since = new Date(Date.parse(receivedAt) - WINDOW_MS).toISOString();
    const begun = await trx.selectFrom("probe_queues").select("queue_id").where("probe_id", "=", probeId)
      .where("updated_at", ">", since).where("created_at", ">", since).limit(MAX_NEW_QUEUES).execute();
    if (begun.length >= MAX_NEW_QUEUES) tooMany.add(keyOf(probeId, batch.queueId));
  }
  return {
    watermark: (probeId, queueId) => watermarks.get(keyOf(probeId, queueId)) ?? null,
    isRefused: (probeId, queueId) => tooMany.has(keyOf(probeId, queueId)),
  };
}

/** Moves queues to their new watermarks; those that are not known begin. */
export function moveQueues(
  trx: Transaction<Schema>, moved: readonly (Pick<Delivered, "probe" | "batch" | "receivedAt"> & { readonly watermark: number })[],
): Promise<void> {
  return upsertMany(
    trx, "probe_queues", { key: ["probe_id", "queue_id"], update: ["watermark", "updated_at"] },
    moved.map(({ probe, batch, receivedAt, watermark }) => ({
      probe_id: probe.probeId, queue_id: batch.queueId, tenant_id: probe.tenantId, watermark, updated_at: receivedAt, created_at: receivedAt,
    })),
  );
}

/** Keeps events that cannot be read, to be looked into. */
export function addRejected(trx: Transaction<Schema>, rows: readonly Schema["rejected_events"][]): Promise<void> {
  return insertMany(trx, "rejected_events", rows);
}

function keyOf(probeId: string, queueId: string): string {
  return `${probeId} ${queueId}`;
}
