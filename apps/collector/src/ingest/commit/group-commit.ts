import { describeError } from "@lanthorn/runtime";
import { isStorageFault } from "../../db/faults.ts";
import { createPace, type Pace } from "../../db/pace.ts";
import { hasRowLocks } from "../../db/row-locks.ts";
import { commitBatches, type Committed } from "./commit-batch.ts";
import { deliverBatch } from "./deliver-batch.ts";
import type { IngestMeasure } from "../messages/measure.ts";
import type { Delivered } from "../messages/read-batch.ts";
import { ROUND_MS } from "./coalescer.ts";

/** Commits what several probes send at the same time together: a disk confirms some hundred commits a second, and probes are thousands. */
export interface GroupCommit {
  /**
   * Resolves when the batch is committed. No probe may have two under way.
   * @throws What the database says when it cannot write at all.
   */
  commit(delivery: Delivered): Promise<Committed>;
}

/** In one transaction: some ten milliseconds, in which everybody else waits. A batch of 500 events is one by itself. */
const MOST = { batches: 500, events: 1000 };

interface Waiting {
  readonly delivery: Delivered;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What arrives while a transaction runs goes into the next one; what arrives alone waits for nothing but the rest of what the
 * sockets had to give. Where several probes send, transactions are kept a moment apart (`Pace`), so that more share each. SQLite
 * writes one transaction at a time, so all share it; on PostgreSQL each tenant has its own, since whoever holds one tenant should
 * keep no other waiting.
 * @param deps.published Told of what was committed, before its `commit` resolves.
 */
export function createGroupCommit(
  deps: Parameters<typeof deliverBatch>[0] & {
    readonly published: (tenantId: string, fromSeq: number) => void; readonly measure?: Pick<IngestMeasure, "transaction"> | undefined;
  },
): GroupCommit {
  const lines = new Map<string, Waiting[]>();
  /** One for each line that ever was: its pace outlasts the moments in which nobody waits. */
  const paces = new Map<string, Pace>();
  const paceOf = (key: string) => {
    const pace = paces.get(key) ?? createPace(ROUND_MS);
    paces.set(key, pace);
    return pace;
  };
  const lineOf = hasRowLocks(deps.db) ? ({ probe }: Delivered) => probe.tenantId : () => "";

  const run = async (key: string, line: Waiting[]) => {
    const pace = paceOf(key);
    for (;;) {
      await pace.next();
      const group = takeGroup(line);
      if (group.length === 0) break;
      pace.began(group.length);
      await commitGroup(group);
    }
    // In the same turn as the question above.
    lines.delete(key);
  };

  const commitGroup = async (group: readonly Waiting[]) => {
    try {
      const committed = await commitBatches(deps, group.map(({ delivery }) => delivery));
      deps.measure?.transaction(group.length);
      const first = new Map<string, number>();
      group.forEach(({ delivery: { probe } }, index) => {
        const appended = committed[index]?.appended;
        if (appended) first.set(probe.tenantId, Math.min(appended.fromSeq, first.get(probe.tenantId) ?? appended.fromSeq));
      });
      for (const [tenantId, fromSeq] of first) deps.published(tenantId, fromSeq);
      group.forEach(({ resolve }, index) => resolve(committed[index] as Committed));
    } catch (error) {
      if (isStorageFault(error)) for (const { reject } of group) reject(error);
      else await commitEach(group, error);
    }
  };

  /** One of them makes all fail: each for itself, so that no other suffers from it. */
  const commitEach = async (group: readonly Waiting[], why: unknown) => {
    if (group.length > 1) deps.logger.warn({ batches: group.length, reason: describeError(why) }, "batches are committed one by one");
    for (const { delivery, resolve, reject } of group) {
      try {
        const committed = await deliverBatch(deps, delivery.probe, delivery.batch, delivery.receivedAt);
        if (committed.appended) deps.published(delivery.probe.tenantId, committed.appended.fromSeq);
        resolve(committed);
      } catch (error) {
        reject(error);
      }
    }
  };

  return {
    commit: (delivery) => new Promise((resolve, reject) => {
      const key = lineOf(delivery);
      const line = lines.get(key);
      if (line) return void line.push({ delivery, resolve, reject });
      const fresh = [{ delivery, resolve, reject }];
      lines.set(key, fresh);
      void run(key, fresh);
      return undefined;
    }),
  };
}

/** Takes the oldest of a line, at least one. */
function takeGroup(line: Waiting[]): readonly Waiting[] {
  let events = 0;
  let count = 0;
  for (const { delivery } of line) {
    events += delivery.batch.events.length;
    if (count > 0 && (events > MOST.events || count >= MOST.batches)) break;
    count += 1;
  }
  return line.splice(0, count);
}
