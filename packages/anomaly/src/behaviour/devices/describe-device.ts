import type { Device } from "./device.ts";
import { type DeviceState, stateOf } from "./device-table.ts";
import { FEATURES, type Feature, unscale } from "../features.ts";
import type { Groups } from "../groups.ts";
import { expectAt, HOURS, RANGE_UNITS, SLOTS } from "../profile.ts";
import { type UsualThing, usualOf } from "./usual.ts";

/** What is usual for a device. */
export interface DeviceBehaviour extends DeviceState {
  /** Since when something unusual goes on, and until when a drifted one learns anew; null for neither. Seconds of packet time. */
  readonly openSince: number | null;
  readonly driftUntil: number | null;
  /** Hours that were learned of devices like it, and whether that is enough for a newcomer. */
  readonly groupHours: number;
  readonly isGroupKnown: boolean;
  /** Each feature by hour of the day (UTC): 24 hours of working days, and 24 of weekends. */
  readonly features: readonly UsualFeature[];
  readonly peers: readonly UsualThing[];
  /** As `uses tcp/443`, `offers tcp/22`. */
  readonly ports: readonly UsualThing[];
  readonly names: readonly UsualThing[];
}

/** A feature in its own unit: bytes, a number, a share. */
export interface UsualFeature {
  readonly name: Feature;
  /** The most that it had in an hour; it fades. */
  readonly highest: number;
  readonly workdays: readonly UsualHour[];
  readonly weekends: readonly UsualHour[];
}

/** What is usual at an hour. */
export interface UsualHour {
  /** On so many days the hour was learned. */
  readonly days: number;
  readonly usual: number;
  readonly expectedHigh: number;
}

/** Describes what was learned of a device. */
export function describeDevice(device: Device, groups: Pick<Groups, "get" | "isKnown">): DeviceBehaviour {
  const { lifecycle, openSince, driftUntil, group, profile, usual } = device;
  const hourAt = (slot: number, place: number): UsualHour => {
    const { usual: mean, around, unit } = expectAt(profile, slot, place);
    return { days: profile.seen[slot] ?? 0, usual: unscale(place, mean), expectedHigh: unscale(place, around + RANGE_UNITS * unit) };
  };
  const hoursFrom = (first: number, place: number) => Array.from({ length: HOURS }, (_, hour) => hourAt(first + hour, place));
  return {
    ...stateOf(device), openSince: openSince > 0 ? openSince : null, driftUntil: lifecycle === "drifted" ? driftUntil : null, groupHours: groups.get(group).hours, isGroupKnown: groups.isKnown(group),
    features: FEATURES.map((name, place) => ({ name, highest: unscale(place, profile.highs[place] ?? 0), workdays: hoursFrom(0, place), weekends: hoursFrom(SLOTS - HOURS, place) })),
    peers: usualOf(usual, "peers"), ports: usualOf(usual, "ports"), names: usualOf(usual, "names"),
  };
}
