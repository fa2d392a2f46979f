import { FEATURES, RULE_LIST } from "./features.ts";

/** Of a day. */
export const HOURS = 24;
/** Hours of a working day, and of a day of the weekend. */
export const SLOTS = 2 * HOURS;
/** Beyond this many units nothing is ordinary. */
export const RANGE_UNITS = 3;
const COUNT = FEATURES.length;
const HOUR_SECONDS = 3600;
/** 1970 began on a Thursday. */
const FIRST_WEEKDAY = 3;
const SATURDAY = 5;
/** After some ten days of a kind the older ones fade. */
const MIN_RATE = 0.1;
/** The highest hour so far is forgotten by half within some 100 days. */
const HIGH_FADES_AN_HOUR = 0.0003;
const MAX_SEEN = 65_535;

/** What is usual for a device or group: at each hour of the day, on working days and at weekends. 6.4 KB; a group's 3 KB more. */
export interface Profile {
  /** Means and mean differences of scaled features: one row a slot. */
  readonly means: Float32Array;
  readonly spreads: Float32Array;
  /** The highest of each feature so far; it fades. */
  readonly highs: Float32Array;
  /** The highest of each slot, which a group has; empty for a device. */
  readonly slotHighs: Float32Array;
  readonly seen: Uint16Array;
}

/** A profile of which nothing is known. */
export function createProfile(kind: "device" | "group"): Profile {
  return {
    means: new Float32Array(SLOTS * COUNT), spreads: new Float32Array(SLOTS * COUNT), highs: new Float32Array(COUNT),
    slotHighs: new Float32Array(kind === "group" ? SLOTS * COUNT : 0), seen: new Uint16Array(SLOTS),
  };
}

/** The hour of the day (UTC), 24 more at a weekend. @param at Seconds since the epoch. */
export function slotOf(at: number): number {
  const hour = Math.floor(at / HOUR_SECONDS);
  const weekday = (((Math.floor(hour / HOURS) + FIRST_WEEKDAY) % 7) + 7) % 7;
  return (((hour % HOURS) + HOURS) % HOURS) + (weekday >= SATURDAY ? HOURS : 0);
}

/** Takes an hour's scaled features for usual. @param rate How fast, at least; 0.1 unless it is to be learned anew. */
export function learnHour(profile: Profile, slot: number, scaled: Float64Array, rate = MIN_RATE): void {
  const seen = profile.seen[slot] ?? 0;
  const step = Math.max(rate, 1 / (seen + 1));
  for (let place = 0; place < COUNT; place += 1) {
    const at = slot * COUNT + place;
    const value = scaled[place] ?? 0;
    const off = value - (profile.means[at] ?? 0);
    if (seen > 0) profile.spreads[at] = (profile.spreads[at] ?? 0) + step * (Math.abs(off) - (profile.spreads[at] ?? 0));
    profile.means[at] = (profile.means[at] ?? 0) + step * off;
    profile.highs[place] = Math.max(value, (profile.highs[place] ?? 0) * (1 - HIGH_FADES_AN_HOUR));
    if (profile.slotHighs.length > 0) profile.slotHighs[at] = Math.max(value, (profile.slotHighs[at] ?? 0) * (1 - HIGH_FADES_AN_HOUR));
  }
  profile.seen[slot] = Math.min(MAX_SEEN, seen + 1);
}

/** What is expected of a feature at an hour, scaled. */
export interface Expectation {
  /** At this hour. */
  readonly usual: number;
  /** At this hour and those beside it, the highest: people come and go an hour earlier or later. */
  readonly around: number;
  /** The step that counts as one. */
  readonly unit: number;
  readonly high: number;
}

/** A spread is a mean difference; this makes a standard deviation of it where values are normal. */
const DEVIATION_OF_MEAN = 1.25;

/** What a profile expects at a slot. */
export function expectAt(profile: Profile, slot: number, place: number): Expectation {
  const usual = profile.means[slot * COUNT + place] ?? 0;
  const [day, hour] = [slot - (slot % HOURS), slot % HOURS];
  const beside = (by: number) => profile.means[(day + ((hour + by + HOURS) % HOURS)) * COUNT + place] ?? 0;
  return {
    usual, around: Math.max(usual, beside(-1), beside(1)), high: profile.highs[place] ?? 0,
    unit: Math.max(RULE_LIST[place]?.unit ?? 1, DEVIATION_OF_MEAN * (profile.spreads[slot * COUNT + place] ?? 0)),
  };
}

/** The highest that any of a group did in this hour or those beside it. */
export function groupHighAt(profile: Profile, slot: number, place: number): number {
  const [day, hour] = [slot - (slot % HOURS), slot % HOURS];
  const high = (by: number) => profile.slotHighs[(day + ((hour + by + HOURS) % HOURS)) * COUNT + place] ?? 0;
  return Math.max(high(-1), high(0), high(1));
}
