import { CliError } from "../errors.ts";

/**
 * How many rows are asked for.
 * @param option What the command line calls it.
 * @throws CliError `bad-option`.
 */
export function parseCount(text: string, most: number, option = "--limit"): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > most) throw new CliError("bad-option", `${option}: ${JSON.stringify(text)} is no whole number from 1 to ${most}`);
  return count;
}
