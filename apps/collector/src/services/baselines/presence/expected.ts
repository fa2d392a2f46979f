import type { Baseline } from "@lanthorn/contract";
import { hourBefore, isUsualHour, type Week } from "./week.ts";

/** Devices that nobody carries away: after a day they are known to be there always. */
const FIXED: ReadonlySet<string> = new Set(["router", "switch", "firewall", "server", "printer", "camera", "access_point", "iot"]);
const DAY_HOURS = 24;
/** Others come and go by the day of the week. */
const WEEK_HOURS = 168;
/** An hour of the week in which a device never was counts as unusual after so many weeks. */
const UNUSUAL_WEEKS = 3;

/** A device as far as its presence goes. */
export interface Present {
  readonly deviceType: string;
  readonly expected: Baseline["expected"];
  readonly week: Week;
}

/** Whether a device is to be there at `now`, by what people have set, else by what was learned. */
export function isExpected({ deviceType, expected, week }: Present, now: number): boolean {
  if (expected === "never") return false;
  if (expected === "always") return true;
  if (expected === null && isAlways(deviceType, week)) return true;
  const { looked, there } = hourBefore(week, now);
  return isUsualHour([looked, there]);
}

/** There in 95 of 100 hours, of a day for what stands where it stands and of a week for the others. */
export function isAlways(deviceType: string, { looked, there }: Week): boolean {
  return looked >= (FIXED.has(deviceType) ? DAY_HOURS : WEEK_HOURS) && there * 100 >= looked * 95;
}

/** Whether a device is there at an hour of the week at which it never was, though it was looked for in three weeks. */
export function isUnusual({ week }: Pick<Present, "week">, now: number): boolean {
  const { looked, there } = hourBefore(week, now);
  return looked >= UNUSUAL_WEEKS && there === 0;
}
