import { parseDuration } from "@lanthorn/contract";
import { CliError } from "../errors.ts";

/**
 * The instant that `--expires` means: a duration from now, or a moment.
 * @param now Milliseconds since the epoch.
 * @param option What the command line calls it, where it is another one.
 * @throws CliError `bad-option`.
 */
export function parseExpiry(text: string, now: number, option = "--expires"): string {
  const durationMs = parseDuration(text);
  if (durationMs !== null) return new Date(now + durationMs).toISOString();
  // A moment without an offset would mean another one on each machine.
  const moment = /^\d{4}-\d\d-\d\d(?:T.+(?:Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(moment)) {
    throw new CliError("bad-option", `${option}: ${JSON.stringify(text)} is neither a duration as 8h or 30d nor a moment as 2026-12-31 or 2026-12-31T18:00:00Z`);
  }
  if (moment <= now) throw new CliError("bad-option", `${option}: ${text} is past`);
  return new Date(moment).toISOString();
}
