import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import type { ProcessCounters } from "../messages.ts";
import { createRulesBlame } from "./rules-blame.ts";

const rules = (state: ProcessCounters["rules"]["state"]) => ({ state, loaded_at: state === "running" ? "2026-11-20T08:00:00.000Z" : null, version: null }) as ProcessCounters["rules"];

test("rules with which the process ends three times in a row, soon, are to blame", async () => {
  const clock = createFakeClock();
  const blame = createRulesBlame(clock);
  const endIn = async (ms: number, state: "loading" | "off" | "running") => {
    blame.note(rules(state));
    await clock.leap(ms);
    blame.note(rules(state));
    return blame.ended();
  };
  expect([await endIn(1000, "loading"), await endIn(1000, "running"), await endIn(5000, "running")]).toEqual([false, false, true]);
  expect([await endIn(1000, "running"), await endIn(1000, "running"), await endIn(61_000, "running"), await endIn(1000, "running"), await endIn(1000, "running")])
    .toEqual([false, false, false, false, false]);
  expect([await endIn(1000, "off"), await endIn(1000, "off"), await endIn(1000, "off"), blame.ended()]).toEqual([false, false, false, false]);
});
