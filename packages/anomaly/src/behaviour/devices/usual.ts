/** Whom and what a device usually has to do with: in how many of its hours it does. */
import { addLeading, createLeading, entriesOf, fadeLeading, type LeadingCounts, type LeadingEntry, leastOf } from "../sketches/leading.ts";

/** Hosts that it opens conversations with, ports that it uses and offers, and names that it asks for. */
export const USUAL_KINDS = ["peers", "ports", "names"] as const;
/** One of `USUAL_KINDS`. */
export type UsualKind = (typeof USUAL_KINDS)[number];

/** Of each kind in an hour, and of each that is usual. */
const IN_AN_HOUR = 8;
const MAX_USUAL = 24;
/** A longer name is nobody's habit: it carries data. */
const MAX_NAME = 128;
/** What a device did a month ago counts a third. */
const FADES_A_DAY = 0.965;

/** What was met in an hour, most of all. */
export type HourMet = Readonly<Record<UsualKind, LeadingCounts>>;

/** What is usual. */
export interface Usual {
  readonly kinds: Readonly<Record<UsualKind, LeadingCounts>>;
  /** Hours that were learned and in which anything was met; they fade as what was met does. */
  hours: number;
}

/** Usual things as they are saved. */
export type SavedUsual = { readonly hours: number } & Readonly<Record<UsualKind, readonly LeadingEntry[]>>;

/** Something usual, and in which share of the hours in which the device does anything it is met, at least: 0 to 1. */
export interface UsualThing {
  readonly name: string;
  readonly share: number;
}

const each = (make: (kind: UsualKind) => LeadingCounts): Readonly<Record<UsualKind, LeadingCounts>> => ({ peers: make("peers"), ports: make("ports"), names: make("names") });

/** Of an hour in which nothing was met. */
export function createHourMet(): HourMet {
  return each(() => createLeading(IN_AN_HOUR));
}

/** @param saved Null where nothing is known. */
export function createUsual(saved: SavedUsual | null): Usual {
  return { kinds: each((kind) => createLeading(MAX_USUAL, saved?.[kind] ?? [])), hours: saved?.hours ?? 0 };
}

/** Takes note of something in an hour. */
export function meet(met: HourMet, kind: UsualKind, name: string): void {
  if (name.length <= MAX_NAME) addLeading(met[kind], name, IN_AN_HOUR);
}

/** What was met in an hour becomes usual by and by. @param isLastOfDay Whether as many hours as a day has were learned again. */
export function learnMet(usual: Usual, met: HourMet, isLastOfDay: boolean): void {
  let hasMet = false;
  for (const kind of USUAL_KINDS) {
    for (const [name] of leastOf(met[kind])) {
      addLeading(usual.kinds[kind], name, MAX_USUAL);
      hasMet = true;
    }
    if (isLastOfDay) fadeLeading(usual.kinds[kind], FADES_A_DAY);
  }
  usual.hours = (usual.hours + (hasMet ? 1 : 0)) * (isLastOfDay ? FADES_A_DAY : 1);
}

/** The most usual first. */
export function usualOf({ kinds, hours }: Usual, kind: UsualKind): readonly UsualThing[] {
  return leastOf(kinds[kind]).map(([name, times]) => ({ name, share: Math.min(1, times / Math.max(1, hours)) }));
}

/** As it is saved. */
export function saveUsual({ kinds, hours }: Usual): SavedUsual {
  return { hours, peers: entriesOf(kinds.peers), ports: entriesOf(kinds.ports), names: entriesOf(kinds.names) };
}

/** @returns Null for what is none. */
export function readUsual(value: unknown): SavedUsual | null {
  if (typeof value !== "object" || value === null || !("hours" in value) || !isCount(value.hours)) return null;
  const { hours } = value;
  const of = (kind: UsualKind) => readEntries((value as Partial<Record<UsualKind, unknown>>)[kind]);
  const [peers, ports, names] = [of("peers"), of("ports"), of("names")];
  return peers && ports && names ? { hours, peers, ports, names } : null;
}

function readEntries(value: unknown): readonly LeadingEntry[] | null {
  return Array.isArray(value) && value.every(isEntry) ? value : null;
}

function isEntry(value: unknown): value is LeadingEntry {
  return Array.isArray(value) && value.length === 3 && typeof value[0] === "string" && isCount(value[1]) && isCount(value[2]);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
