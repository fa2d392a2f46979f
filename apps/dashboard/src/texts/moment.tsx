import { useSyncExternalStore } from "react";
import { clock } from "../clock.ts";
import { useZone, type Zone } from "./zone.tsx";

const UNITS = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]] as const;
const TICK_MS = 15_000;

let now = clock.now();
const listeners = new Set<() => void>();
let stopTicking = () => {};

/** @returns Now in milliseconds; whoever uses it is drawn again every 15 s. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = clock.now();
    stopTicking = clock.every(TICK_MS, () => {
      now = clock.now();
      for (const each of listeners) each();
    });
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) stopTicking();
  };
}

/** How long before `nowMs` something was, as `5 min. ago`. */
export function formatAgo(at: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(at) - nowMs) / 1000);
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? UNITS[5];
  return Math.abs(seconds) < 10 ? "just now" : new Intl.RelativeTimeFormat("en", { style: "short", numeric: "always" }).format(Math.trunc(seconds / size), unit);
}

/** A moment with its zone, as `27 Nov 2026, 01:20:33 UTC+1`. */
export function formatMoment(at: string | number, { timeZone }: Zone): string {
  return new Intl.DateTimeFormat("en-GB", {
    day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(new Date(at));
}

/** The time of a day, to the millisecond, with its zone where the reader has chosen one. */
export function formatTime(at: string, { timeZone, isNamed }: Zone): string {
  return new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, ...(timeZone === undefined ? {} : { timeZone }), ...(isNamed ? { timeZoneName: "short" } : {}),
  }).format(new Date(at));
}

/** A moment: how long ago it was, or the moment itself with its zone. The other of the two is its title. */
export function Moment({ at, exact = false }: { readonly at: string | null; readonly exact?: boolean }) {
  const zone = useZone();
  const nowMs = useNow();
  if (at === null) return <span>never</span>;
  const [ago, moment] = [formatAgo(at, nowMs), formatMoment(at, zone)];
  return <time dateTime={at} title={exact ? ago : moment}>{exact ? moment : ago}</time>;
}
