import type { ProbeHealth } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { addSample, forgetSamples } from "./health-history-store.ts";
import { createRetentionJob, type Job } from "../../jobs/job.ts";

/** How probes were in the last week, for who asks why something was missed. */
export interface HealthHistory {
  /** Forgets samples that are a week old. */
  readonly job: Job<number>;
  /** Keeps one of what a probe says every half a minute, every five minutes. Never rejects. */
  heard(probe: { readonly probeId: string; readonly tenantId: string; readonly siteId: string }, health: ProbeHealth): Promise<void>;
}

/** 2016 samples of a probe in a week; 2000 probes write seven rows a second. */
const KEEP_EVERY_MS = 300_000;
const KEEP_MS = 7 * 86_400_000;
const RUN_EVERY_MS = 3_600_000;

/** Of servers and routers the newest word counts: a week of samples would be the same lists again and again. */
const NOT_KEPT = { network_facts: undefined, network_looks: undefined } as const;

/** Each process keeps samples by its own count: a probe that changes between replicas can have more than one in five minutes. */
export function createHealthHistory(
  { db, clock, logger }: { readonly db: Kysely<Schema>; readonly clock: Clock; readonly logger: Log },
): HealthHistory {
  const keptAt = new Map<string, number>();
  const job = createRetentionJob({ clock, log: logger }, {
    name: "probe-health-retention", everyMs: RUN_EVERY_MS, who: "each replica", what: "old samples of probes' health",
    async run() {
      const rows = await forgetSamples(db, toInstant(clock.now() - KEEP_MS));
      for (const [probeId, at] of keptAt) if (clock.monotonic() - at > KEEP_MS) keptAt.delete(probeId);
      return rows;
    },
  });
  return {
    job,
    async heard({ probeId, tenantId }, health) {
      const last = keptAt.get(probeId);
      if (last !== undefined && clock.monotonic() - last < KEEP_EVERY_MS) return;
      keptAt.set(probeId, clock.monotonic());
      // By the collector's clock, as everything that is compared with another probe's.
      const row = { probe_id: probeId, at: toInstant(clock.now()), tenant_id: tenantId, health: JSON.stringify({ ...health, ...NOT_KEPT }) };
      try {
        await addSample(db, row);
      } catch (error) {
        logger.error({ probe_id: probeId, reason: describeError(error) }, "a sample of a probe's health could not be stored");
      }
    },
  };
}
