import { isScanKind } from "../scans/scan-look.ts";
import type { ReportedHit } from "./messages.ts";

const MAX_TEXT = 4096;

/** @returns What a source did with a decoy since it began, in a sentence without its full stop. */
export function describeHit({ stage, connections, credentials, usernames, services, detail, left_out: leftOut }: ReportedHit): string {
  if (stage === "name_poisoning") return `${count(connections, "answer")} to questions for hosts that do not exist, by ${services.join(", ")}; ${detail}`.slice(0, MAX_TEXT);
  const names = usernames.length === 0 ? "" : ` for ${usernames.slice(0, 5).join(", ")}${usernames.length > 5 ? " and others" : ""}`;
  const [scans, used] = [services.filter(isScanKind), services.filter((service) => !isScanKind(service))];
  const parts = [
    scans.length === 0 ? `${count(connections, "connection")} to ${used.join(", ")}` : `${count(connections, "touch", "touches")}, ${[...used, ...scans].join(", ")}`, credentials === 0 ? "" : `${count(credentials, "password")} tried${names}`, detail,
    leftOut === 0 ? "" : `${count(leftOut, "piece", "pieces")} of evidence left out`,
  ];
  return parts.filter(Boolean).join("; ").slice(0, MAX_TEXT);
}

function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}
