import type { ReportedHit } from "./messages.ts";

const MAX_TEXT = 4096;

/** @returns What a source did with a decoy since it began, in a sentence without its full stop. */
export function describeHit({ connections, credentials, usernames, services, detail }: ReportedHit): string {
  const names = usernames.length === 0 ? "" : ` for ${usernames.slice(0, 5).join(", ")}${usernames.length > 5 ? " and others" : ""}`;
  const parts = [
    `${count(connections, "connection")} to ${services.join(", ")}`, credentials === 0 ? "" : `${count(credentials, "password")} tried${names}`, detail,
  ];
  return parts.filter(Boolean).join("; ").slice(0, MAX_TEXT);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
