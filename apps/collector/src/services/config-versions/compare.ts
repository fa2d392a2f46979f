import { structuredPatch } from "diff";
import { maskLines } from "./mask.ts";

/** How one text differs from another, line by line. */
export interface Comparison {
  readonly added: number;
  readonly removed: number;
  /** In the unified format, with secrets hidden or not. */
  unified(names: { readonly from: string; readonly to: string }, options: { readonly masked: boolean }): string;
}

/** Lines around each change. */
const CONTEXT = 3;
/**
 * Beyond so many changed lines, or so long, two texts are no longer compared, but shown as one removed and the other added:
 * the time grows with the square.
 */
const MAX_EDITS = 4000;
const MAX_COMPARE_MS = 8000;

/** Lines that say when the device was asked, and not what it is: a difference in them alone is none. */
const VOLATILE = [
  /^! ?Last configuration change at /, /^! ?NVRAM config last updated at /, /^!Time: /, /^!Running configuration last done at: /,
  /^ntp clock-period /, /^Current configuration ?: ?\d+ bytes/, /^Building configuration/, /^## Last (?:commit|changed): /,
  /^# \S+ [\d:]+ by RouterOS /, /^# software id = /, /^#conf_file_ver=/, /^! device: .* \(/,
] as const;

/** A text in lines as they are compared: whatever ends them, and without empty ones at the end. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n?|\n/);
  let end = lines.length;
  while (end > 1 && lines[end - 1] === "") end -= 1;
  return lines.slice(0, end);
}

/** Whether two texts say the same of a device. */
export function isSame(one: readonly string[], other: readonly string[]): boolean {
  const lasting = (lines: readonly string[]) => lines.filter((line) => !VOLATILE.some((pattern) => pattern.test(line))).join("\n");
  return lasting(one) === lasting(other);
}

/** Compares two texts in the lines of `linesOf`. It takes up to eight seconds, so it runs in the text process only. */
export function compare(from: readonly string[], to: readonly string[]): Comparison {
  const hunks = hunksOf(from, to);
  const count = (sign: string) => hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.startsWith(sign)).length, 0);
  return {
    added: count("+"), removed: count("-"),
    unified(names, { masked }) {
      if (hunks.length === 0) return "";
      const [old, now] = masked ? [maskLines(from), maskLines(to)] : [from, to];
      const text = hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => {
        let [oldAt, newAt] = [oldStart - 1, newStart - 1];
        const shown = lines.map((line) => {
          const sign = line[0] ?? " ";
          const source = sign === "-" ? old[oldAt] : now[newAt];
          if (sign !== "+") oldAt += 1;
          if (sign !== "-") newAt += 1;
          return `${sign}${source ?? ""}`;
        });
        return [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...shown].join("\n");
      });
      return `--- ${names.from}\n+++ ${names.to}\n${text.join("\n")}\n`;
    },
  };
}

type Hunk = ReturnType<typeof structuredPatch>["hunks"][number];

/** What was compared are the open texts, so that a secret that changed is a line that changed. */
function hunksOf(from: readonly string[], to: readonly string[]): readonly Hunk[] {
  const patch = structuredPatch("", "", `${from.join("\n")}\n`, `${to.join("\n")}\n`, "", "", {
    context: CONTEXT, maxEditLength: MAX_EDITS, timeout: MAX_COMPARE_MS,
  });
  if (patch) return patch.hunks;
  const lines = [...from.map((line) => `-${line}`), ...to.map((line) => `+${line}`)];
  return [{ oldStart: 1, oldLines: from.length, newStart: 1, newLines: to.length, lines }];
}
