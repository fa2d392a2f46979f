import type { Clock } from "@lanthorn/runtime";
import type { GuardDeps } from "./guard.ts";

/** Timers of guards, which end with them. */
export interface GuardTimers extends Pick<GuardDeps, "after"> {
  /** What tasks have thrown since the last call. */
  takeFaults(): readonly unknown[];
  close(): void;
}

const MAX_FAULTS = 10;

/** @param isEnabled Whether the guards are on: else a task is left out when its time comes. */
export function createGuardTimers(clock: Pick<Clock, "after">, isEnabled: () => boolean): GuardTimers {
  const pending = new Set<() => void>();
  let faults: unknown[] = [];
  const run = (task: () => void) => {
    try {
      task();
    } catch (error) {
      if (faults.length < MAX_FAULTS) faults.push(error);
    }
  };
  return {
    after(delayMs, task) {
      const stop = clock.after(delayMs, () => {
        pending.delete(cancel);
        if (isEnabled()) run(task);
      });
      const cancel = () => {
        pending.delete(cancel);
        stop();
      };
      pending.add(cancel);
      return cancel;
    },
    takeFaults() {
      const taken = faults;
      faults = [];
      return taken;
    },
    close() {
      for (const cancel of pending) cancel();
    },
  };
}
