import type { SoftwareMatch } from "./match-software.ts";

const HEADING = ["CVE", "SEVERITY", "CVSS", "KEV", "EPSS", "CONFIDENCE", "STATUS", "VERSIONS", "FIXED IN"] as const;
const GAP = "  ";
const MAX_CELL = 60;

/** @returns Matches as a table for people and a line about them, without control characters that a feed may have brought. */
export function describeMatches(matches: readonly SoftwareMatch[]): string {
  if (matches.length === 0) return "No known CVE concerns it.";
  const rows = [HEADING, ...matches.map(cellsOf)].map((cells) => cells.map(printable));
  const widths = HEADING.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(GAP).trimEnd());
  const counted = matches.filter(({ isCounted }) => isCounted).length;
  const patched = matches.filter(({ status }) => status === "patched-by-distribution").length;
  return [...lines, "", `${matches.length} in all: ${counted} affected, ${patched} patched by the distribution, ${matches.length - counted - patched} only possible`].join("\n");
}

function cellsOf({ id, severity, score, isKev, epss, confidence, status, range, remedies }: SoftwareMatch): readonly string[] {
  const [remedy] = remedies;
  const fixed = remedy === undefined ? "" : remedy.fixed.length > 0 ? remedy.fixed.join(", ") : `after ${remedy.lastAffected.join(", ")}`;
  return [
    id, severity ?? "-", score === null ? "-" : score.toFixed(1), isKev ? "yes" : "-", epss === null ? "-" : `${(epss * 100).toFixed(1)} %`, confidence,
    status === "patched-by-distribution" ? "patched" : status, range, fixed,
  ];
}

function printable(text: string): string {
  const plain = text.replaceAll(/\p{Cc}/gu, "?");
  return plain.length <= MAX_CELL ? plain : `${plain.slice(0, MAX_CELL - 1)}…`;
}

/** A match as the API has it. `counted`: whether the software counts as affected. */
export function toMatchJson({ id, severity, score, isKev, epss, cpe, software, range, confidence, reasons, status, isCounted, remedies }: SoftwareMatch): object {
  return {
    cve_id: id, severity, cvss_score: score, known_exploited: isKev, epss, cpe, range, software, confidence, reasons, status, counted: isCounted,
    remedies: remedies.map(({ product, fixed, lastAffected }) => ({ product, fixed, last_affected: lastAffected })),
  };
}
