import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../db/schema.ts";
import { createLeaseStore } from "./lease-store.ts";

/** The leader lease: one replica of several holds it at a time. */
export interface Lease {
  /** Whether this process has it now, and may be sure of that. */
  isHeld(): boolean;
  /** Gives it up, so that another takes it at its next look. */
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 2000;
/** Sooner than anybody else takes it: who cannot say that it lives holds it no longer. */
const SURE_FOR_MS = 8000;
const DEAD_AFTER_MS = 12_000;

/**
 * A row of `leases` that its holder counts up. Whoever sees the count stand still for `DEAD_AFTER_MS` takes it over: no clock but
 * each process's own monotonic one is asked. What is done under a lease must bear being done twice at the worst, by a process
 * that stood still in the middle of it.
 */
export async function openLease(
  deps: { readonly db: Kysely<Schema>; readonly clock: Clock; readonly log: Log },
  { name, holder, onTaken }: {
    readonly name: string;
    readonly holder: string;
    /** It was another's, who is dead. */
    readonly onTaken?: () => void;
  },
): Promise<Lease> {
  const { clock, log } = deps;
  const store = createLeaseStore(deps.db);
  let heldUntil = Number.NEGATIVE_INFINITY;
  let seen: { readonly holder: string; readonly beats: number; readonly since: number } | null = null;
  let isClosed = false;
  let looking: Promise<void> | null = null;

  const take = async (): Promise<boolean> => {
    const row = await store.read(name);
    if (!row) return store.add(name, holder);
    const isSame = seen !== null && seen.holder === row.holder && seen.beats === row.beats;
    seen = isSame && seen !== null ? seen : { ...row, since: clock.monotonic() };
    if (row.holder !== holder && clock.monotonic() - seen.since < DEAD_AFTER_MS) return false;
    const isTaken = await store.take(name, holder, row);
    if (isTaken && row.holder !== holder) onTaken?.();
    return isTaken;
  };
  const look = async () => {
    const at = clock.monotonic();
    const had = heldUntil > at;
    try {
      const has = await take();
      if (has && !had) log.info({ lease: name }, "this process now holds the leader lease");
      if (!has && had) log.warn({ lease: name }, "another process has taken over the leader lease");
      heldUntil = has ? at + SURE_FOR_MS : Number.NEGATIVE_INFINITY;
    } catch (error) {
      log.warn({ lease: name, reason: describeError(error) }, "a lease could not be read, trying again");
    }
  };
  const stop = clock.every(LOOK_EVERY_MS, () => {
    looking ??= look().finally(() => {
      looking = null;
    });
  });
  await look();
  return {
    isHeld: () => !isClosed && heldUntil > clock.monotonic(),
    async close() {
      isClosed = true;
      stop();
      await looking;
      await store.remove(name, holder).catch(() => {});
    },
  };
}
