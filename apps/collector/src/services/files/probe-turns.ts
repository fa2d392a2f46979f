import { ApiError } from "../../gateway/errors.ts";
import { isFull } from "../../db/faults.ts";
import type { KeyedQueue } from "../../ingest/commit/keyed-queue.ts";
import { diskFull, refuse } from "./refusals.ts";

/** The probe at the other end, as its certificate says. */
export interface Sender {
  readonly id: string;
  /** Of its certificate, SubjectPublicKeyInfo in Base64. */
  readonly key: string | undefined;
}

/** What letting probes in needs. */
export interface ProbeTurnsDependencies {
  /** The tenant of a probe that may come in with this key; null for one that may not. */
  readonly admit: (probeId: string, key: string) => Promise<{ readonly tenantId: string } | null>;
  /** Runs what concerns one probe one after the other. */
  readonly serial: KeyedQueue;
}

/** Runs work for the tenant of a probe, when it is the probe's turn. */
export type ProbeTurns = <T>(probe: Sender, work: (tenantId: string) => Promise<T>) => Promise<T>;

/** Requests of one probe at once: each may hold a piece in memory. */
const MAX_IN_FLIGHT = 4;

/**
 * Lets a probe's requests in one at a time, a few waiting.
 * @returns Throws ApiError UNAUTHORIZED for a probe that is not admitted; 429 when too many wait; SERVICE_UNAVAILABLE for a full disk.
 */
export function createProbeTurns({ admit, serial }: ProbeTurnsDependencies): ProbeTurns {
  const inFlight = new Map<string, number>();
  return async <T>(probe: Sender, work: (tenantId: string) => Promise<T>): Promise<T> => {
    const admitted = probe.key === undefined ? null : await admit(probe.id, probe.key);
    if (!admitted) throw new ApiError("UNAUTHORIZED", "this probe is revoked, or its certificate was replaced: enroll it again");
    const before = inFlight.get(probe.id) ?? 0;
    if (before >= MAX_IN_FLIGHT) throw refuse("too-many-open", "too many requests about files at once; wait for an answer", 5);
    inFlight.set(probe.id, before + 1);
    try {
      let result: { readonly value: T } | null = null;
      await serial.run(probe.id, async () => {
        result = { value: await work(admitted.tenantId) };
      });
      return (result as unknown as { readonly value: T }).value;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOSPC" || isFull(error)) throw diskFull(error);
      throw error;
    } finally {
      const left = (inFlight.get(probe.id) ?? 1) - 1;
      if (left === 0) inFlight.delete(probe.id);
      else inFlight.set(probe.id, left);
    }
  };
}
