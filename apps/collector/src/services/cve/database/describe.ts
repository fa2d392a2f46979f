import { basename } from "node:path";
import type { CveImportProgress, CveImportResult, FeedOutcome } from "./import-types.ts";

const WHOLE = 100;
const STEP_PERCENT = 10;

/** A line for people; the same one until some more has been done. */
export function describeProgress({ stage, feed, octets, octetsTotal }: CveImportProgress): string {
  if (stage === "finishing") return "building the search index and checking the database";
  const percent = octetsTotal === 0 ? WHOLE : Math.floor(octets / octetsTotal * WHOLE / STEP_PERCENT) * STEP_PERCENT;
  return `reading ${basename(feed)}: ${percent} %`;
}

/** What became of an import, for people, in lines. */
export function describeImport({ state, error, feeds, before, after, bytes }: CveImportResult): string {
  const lines = feeds.map(describeFeed);
  if (state === "refused") return [...lines, `The CVE database is as it was: ${error ?? "nothing could be used"}.`].join("\n");
  const cves = after?.cves ?? 0;
  const grown = before === null ? "" : ` (before: ${count(before.cves)})`;
  return [
    ...lines,
    `The CVE database has ${count(cves)} CVEs now${grown}, ${count(after?.configured ?? 0)} of them with the products that they affect, in ${Math.round(bytes / 1e6)} MB.`,
  ].join("\n");
}

function describeFeed({ name, kind, records, added, changed, older, withdrawn, refused, reasons, error }: FeedOutcome): string {
  const subject = `${basename(name)}${kind === null ? "" : ` (${kind})`}`;
  if (error !== null) return `${subject}: not imported: ${error}`;
  const parts = [
    `${count(added)} new`, `${count(changed)} changed`, `${count(older)} known already`, ...(withdrawn > 0 ? [`${count(withdrawn)} withdrawn`] : []),
    ...(refused > 0 ? [`${count(refused)} refused (${reasons.slice(0, 3).map((one) => `${count(one.count)} ${one.reason}`).join(", ")})`] : []),
  ];
  return `${subject}: ${count(records)} records: ${parts.join(", ")}`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
