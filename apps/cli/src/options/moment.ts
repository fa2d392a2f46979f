import { momentToInstant, parseDuration } from "@lanthorn/contract";
import { CliError } from "../errors.ts";

/**
 * The instant that an option means: how long ago, or a moment.
 * @param now Milliseconds since the epoch. @param option What the command line calls it.
 * @throws CliError `bad-option`.
 */
export function parseMoment(text: string, now: number, option: string): string {
  // A moment without an offset would mean another one on each machine.
  const isMoment = /^\d{4}-\d\d-\d\d(?:T.+(?:Z|[+-]\d\d:\d\d))?$/.test(text) && !Number.isNaN(Date.parse(text));
  if (isMoment || parseDuration(text) !== null) return momentToInstant(text, now);
  throw new CliError("bad-option", `${option}: ${JSON.stringify(text)} is neither how long ago as 2h or 7d nor a moment as 2026-12-31 or 2026-12-31T18:00:00Z`);
}
