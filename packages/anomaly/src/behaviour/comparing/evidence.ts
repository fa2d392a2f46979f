/** How far an hour of a device is from what is usual for it, by feature and by what it met for the first time. */
import type { Device, News } from "../devices/device.ts";
import { FEATURES, type Family, type Feature, PLACE, RULE_LIST } from "../features.ts";
import { expectAt, groupHighAt, type Profile } from "../profile.ts";

/** A step of this many units from the usual is still ordinary. */
const ORDINARY_UNITS = 3;
/** What like devices have done already is little surprise, however unusual it is for this one. */
const IN_GROUP_UNITS = 2;
/** More than this says nothing more. */
const MAX_SURPRISE = 10;
/** Before the second weekend nobody knows what is usual on one. */
const MIN_DAYS_OF_HOUR = 2;
/** What like devices do counts as much as so many days of its own: all visit far places at times, but few administer. */
const PRIOR_DAYS = { region: 30, admin: 1 } as const;
/** Of what nobody ever did, one in 100 days is taken for usual. */
const LEAST_COUNT = 0.05;

/** What speaks for an anomaly. */
export interface Clue {
  readonly what: Feature | "new_region" | "new_admin_peer";
  readonly family: Family | "region" | "admin";
  /** Whether it is so much for any hour, or for this hour only. */
  readonly isOfHour: boolean;
  readonly surprise: number;
  readonly news: News | null;
}

/** How often like devices meet something for the first time: events and days of devices. */
export interface MetBefore {
  readonly events: number;
  readonly days: number;
}

/** The clues of an hour. @param scaled The hour's features. @param group The profile of like devices. */
export function cluesOf(device: Device, scaled: Float64Array, slot: number, group: Profile): Clue[] {
  return FEATURES.flatMap((what): Clue[] => {
    const place = PLACE[what];
    const rule = RULE_LIST[place];
    const value = scaled[place] ?? 0;
    if (!rule || rule.weight + rule.hourWeight === 0 || value === 0) return [];
    const { around, unit, high } = expectAt(device.profile, slot, place);
    const off = (value - around) / unit - ORDINARY_UNITS;
    if (off <= 0) return [];
    const overGroup = IN_GROUP_UNITS + (value - (group.highs[place] ?? 0)) / rule.unit;
    const beyond = rule.weight * Math.min(off, (value - high) / rule.unit, overGroup);
    const isHourKnown = (device.profile.seen[slot] ?? 0) >= MIN_DAYS_OF_HOUR;
    const ofHour = !isHourKnown ? 0 : rule.hourWeight * Math.min(off, (value - groupHighAt(group, slot, place)) / rule.unit);
    const surprise = Math.min(MAX_SURPRISE, Math.max(beyond, ofHour));
    return surprise > 0 ? [{ what, family: rule.family, isOfHour: ofHour > beyond, surprise, news: null }] : [];
  });
}

/**
 * How surprising it is that a device meets something of a kind for the first time: the negative logarithm of how often that happens a day.
 * @param own Events of the device so far, in so many days. @param alike The same of like devices.
 */
export function surpriseOfNews(kind: News["kind"], own: MetBefore, alike: MetBefore): number {
  const prior = alike.days > 0 ? alike.events / alike.days : 0;
  const aDay = (own.events + PRIOR_DAYS[kind] * prior + LEAST_COUNT) / (own.days + PRIOR_DAYS[kind]);
  return Math.min(MAX_SURPRISE, Math.max(0, -Math.log(aDay)));
}

/** Of each family the largest counts, and they are added up. */
export function totalOf(clues: readonly Clue[]): number {
  const largest = new Map<string, number>();
  for (const { family, surprise } of clues) largest.set(family, Math.max(largest.get(family) ?? 0, surprise));
  return [...largest.values()].reduce((sum, one) => sum + one, 0);
}
