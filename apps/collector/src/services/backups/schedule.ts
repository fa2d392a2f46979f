import { Cron } from "croner";

/** When backups are due: a cron pattern in the machine's own time zone. */
export interface Schedule {
  /** @param after Milliseconds since the epoch. @returns The first moment after it; null for a pattern that has none. */
  next(after: number): number | null;
}

/** @returns Null for what is no pattern. */
export function parseSchedule(pattern: string): Schedule | null {
  try {
    // Without a task it is a calculator: our own clock says when.
    const cron = new Cron(pattern, { mode: "5-part" });
    return { next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null };
  } catch {
    return null;
  }
}
