import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { RefusalReason } from "../../broker/broker.ts";
import type { IngestMeasure } from "./measure.ts";
import type { ProbesStore } from "../probes-store.ts";

/** Counts what was not taken from each probe, for its record. */
export interface Refusals {
  count(probeId: string, reason: RefusalReason): void;
  /** Writes what is counted and not yet written. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** A probe that sends nonsense all day costs one small write in this time. */
const WRITE_EVERY_MS = 1000;

/** Writes counts at most once a second. Counts that cannot be written are tried again; those of a crash are lost. */
export function createRefusals(
  deps: {
    readonly probes: Pick<ProbesStore, "addRefused">; readonly clock: Clock; readonly log: Log;
    readonly measure?: Pick<IngestMeasure, "refused"> | undefined;
  },
): Refusals {
  let pending = new Map<string, Record<string, number>>();
  let cancel: (() => void) | null = null;

  const flush = async () => {
    cancel?.();
    cancel = null;
    const writing = pending;
    pending = new Map();
    for (const [probeId, counts] of writing) {
      try {
        await deps.probes.addRefused(probeId, counts);
      } catch (error) {
        deps.log.warn({ probe_id: probeId, reason: describeError(error) }, "refused payloads could not be counted yet");
        for (const [reason, count] of Object.entries(counts)) add(probeId, reason, count);
      }
    }
  };
  const add = (probeId: string, reason: string, count: number) => {
    const counts = pending.get(probeId) ?? {};
    counts[reason] = (counts[reason] ?? 0) + count;
    pending.set(probeId, counts);
    cancel ??= deps.clock.after(WRITE_EVERY_MS, () => void flush());
  };
  return {
    count(probeId, reason) {
      deps.measure?.refused(reason);
      add(probeId, reason, 1);
    },
    flush,
    async close() {
      await flush();
      cancel?.();
    },
  };
}
