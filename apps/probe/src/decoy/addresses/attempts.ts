/** Repeated attempts to take one address, one at a time, until it is closed. A timer or kernel call of an earlier attempt has no effect. */
import { type Clock, describeError } from "@lanthorn/runtime";
import type { AddressCondition } from "./address-state.ts";

/** Before an address that another host uses is tried again: well beyond RATE_LIMIT_INTERVAL of RFC 5227, because its owner keeps it for hours. */
const RETRY_MS = 600_000;
/** Before a call that the kernel refused is tried again. */
const RETRY_FAILED_MS = 60_000;

/** What one attempt may do. */
export interface Attempt {
  /** Replaces the timer that is set, if any. Does nothing once the attempt has ended. */
  later(ms: number, task: () => void): void;
  /** Runs after all earlier kernel calls. If it throws, the attempt fails. */
  run(task: () => Promise<void>): void;
  /** False once the attempt has ended: check it after each await. */
  isCurrent(): boolean;
  taken(): void;
}

/** The attempts at one address. */
export interface Attempts {
  readonly state: () => AddressCondition["state"];
  /** Leaves the address to its owner, and tries again in ten minutes. @param owner The owner's MAC address, null if unknown. */
  giveUp(owner: string | null): void;
  /** Removes the address and starts no further attempt. Rejects if the address could not be removed. */
  close(): Promise<void>;
}

/** Starts the first attempt at once. @param deps.release Removes the address from its link, if it is there. @param begin Starts one attempt. */
export function createAttempts({ release, onChange, random, clock }: {
  readonly release: () => Promise<void>; readonly onChange: (condition: AddressCondition) => void; readonly random: () => number; readonly clock: Pick<Clock, "after">;
}, begin: (attempt: Attempt) => void): Attempts {
  let state: AddressCondition["state"] = "probing";
  let cancel: () => void = () => undefined;
  let [current, isClosed] = [0, false];
  let work: Promise<void> = Promise.resolve();
  const become = (condition: AddressCondition) => {
    state = condition.state;
    onChange(condition);
  };
  const isCurrent = (own: number) => !isClosed && own === current;
  const later = (own: number, ms: number, task: () => void) => {
    if (!isCurrent(own)) return;
    cancel();
    cancel = clock.after(ms, task);
  };
  const start = () => {
    current += 1;
    const own = current;
    become({ state: "probing", used_by: null, problem: null });
    begin({
      later: (ms, task) => later(own, ms, task), isCurrent: () => isCurrent(own),
      run: (task) => void (work = work.then(() => (isCurrent(own) ? task() : undefined)).catch((error: unknown) => fail(own, error))),
      taken: () => become({ state: "taken", used_by: null, problem: null }),
    });
  };
  const end = (condition: AddressCondition, retryMs: number) => {
    current += 1;
    cancel();
    become(condition);
    later(current, retryMs, start);
    giveBack(current, () => undefined);
  };
  const fail = (own: number, error: unknown) => {
    if (isCurrent(own)) end({ state: "failed", used_by: null, problem: describeError(error) }, RETRY_FAILED_MS);
  };
  const giveUp = (owner: string | null) => {
    if (!isClosed) end({ state: "in_use", used_by: owner, problem: null }, RETRY_MS * (1 + random() / 10));
  };
  /** If the kernel refuses, the address is still on its link, beside its owner's: removal is retried each minute, and a new attempt follows it. */
  const giveBack = (own: number, onGone: () => void) => {
    work = work.then(release).then(onGone, (error: unknown) => {
      if (!isCurrent(own)) return;
      // If it could not be taken either, that reason stays.
      if (state !== "failed") become({ state: "failed", used_by: null, problem: describeError(error) });
      later(own, RETRY_FAILED_MS, () => giveBack(own, () => {
        if (isCurrent(own)) start();
      }));
    });
  };
  start();
  return {
    state: () => state, giveUp,
    close() {
      isClosed = true;
      cancel();
      work = work.then(release);
      return work;
    },
  };
}
