import { clock } from "../clock.ts";

const HOURS = { 1: "an hour", 8: "8 hours", 24: "a day", 168: "a week", 720: "30 days" };
const HOUR_MS = 3_600_000;

/** For how long something is muted: the options of a choice, in hours. */
export function MuteTimes() {
  return <>{Object.entries(HOURS).map(([hours, text]) => <option key={hours} value={hours}>{text}</option>)}</>;
}

/** When a mute of so many hours ends. */
export function muteEnd(hours: string): string {
  return new Date(clock.now() + Number(hours) * HOUR_MS).toISOString();
}
