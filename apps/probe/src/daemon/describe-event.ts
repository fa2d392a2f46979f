import type { ProbeEvent } from "@lanthorn/contract/uplink";

/** A line for a person: when, what, and the event's texts and numbers; what is empty or has parts is left out. */
export function describeEvent({ occurred_at: at, type, data }: ProbeEvent): string {
  const facts = Object.entries(data).flatMap(([name, value]) =>
    ((typeof value === "string" && value !== "") || typeof value === "number" || value === true ? [`${name}=${printable(String(value))}`] : []));
  return [at, type, ...facts].join(" ");
}

/** What a device says of itself reaches a terminal: no control characters, and quoted where it holds a blank. */
function printable(text: string): string {
  const safe = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
  return safe.includes(" ") ? `"${safe}"` : safe;
}
