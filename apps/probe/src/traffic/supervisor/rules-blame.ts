/** Whether it is the rules that the traffic process does not survive. */
import type { Clock } from "@lanthorn/runtime";
import type { ProcessCounters } from "../messages.ts";

/** Watches one process after the other. */
export interface RulesBlame {
  /** What the process says of its rules, each second. */
  note(rules: ProcessCounters["rules"]): void;
  /** The process has ended. @returns Whether the rules are to be taken back now. */
  ended(): boolean;
}

/** So many in a row are no accident. */
export const MAX_ENDS = 3;
/** What rules do to memory and time shows by then. */
const PROBATION_MS = 60_000;

/** One count for all versions: one that lasts clears it. */
export function createRulesBlame(clock: Pick<Clock, "monotonic">): RulesBlame {
  let ends = 0;
  /** Monotonic milliseconds since which the rules have been loading or running; null where there are none. */
  let since: number | null = null;
  let key = "";
  return {
    note({ state, loaded_at: loadedAt, version }) {
      const now = `${state} ${loadedAt ?? ""} ${version ?? ""}`;
      if (state === "loading" || state === "running") {
        if (since === null || now !== key) since = clock.monotonic();
        else if (state === "running" && clock.monotonic() - since >= PROBATION_MS) ends = 0;
      } else since = null;
      key = now;
    },
    ended() {
      const isNew = since !== null && clock.monotonic() - since < PROBATION_MS;
      since = null;
      key = "";
      ends = isNew ? ends + 1 : 0;
      if (ends < MAX_ENDS) return false;
      ends = 0;
      return true;
    },
  };
}
