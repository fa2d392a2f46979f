/** What is usual for a device, as the collector gets it. */
import type { DeviceBehaviour, UsualFeature } from "@lanthorn/anomaly";
import type { LearnedBehaviour } from "@lanthorn/contract/uplink";
import { toInstant } from "@lanthorn/runtime";

const MAX_NAME = 64;
const MAX_THINGS = 32;
/** Names of devices and hosts come from us or are as long; those of DNS are cut where they are kept. */
const MAX_THING = 160;

/** Figures are rounded: nobody reads more of them, and a message is shorter. */
export function toLearnedBehaviour(known: DeviceBehaviour): LearnedBehaviour {
  const [first] = known.features;
  return {
    device: known.device.slice(0, MAX_NAME), lifecycle: known.lifecycle, lifecycle_since: at(known.lifecycleSince), known_since: at(known.firstAt), hours_learned: known.hours,
    unusual_since: known.openSince === null ? null : at(known.openSince), relearned_until: known.driftUntil === null ? null : at(known.driftUntil),
    group: known.group.slice(0, MAX_NAME), group_hours: known.groupHours, is_group_known: known.isGroupKnown,
    days: { workdays: (first?.workdays ?? []).map(({ days }) => days), weekends: (first?.weekends ?? []).map(({ days }) => days) },
    features: known.features.map((feature) => ({ name: feature.name, highest: round(feature.highest), workdays: hoursOf(feature.workdays), weekends: hoursOf(feature.weekends) })),
    peers: things(known.peers), ports: things(known.ports), names: things(known.names),
  };
}

function hoursOf(hours: UsualFeature["workdays"]): { readonly usual: number[]; readonly expected_high: number[] } {
  return { usual: hours.map(({ usual }) => round(usual)), expected_high: hours.map(({ expectedHigh }) => round(expectedHigh)) };
}

function things(usual: DeviceBehaviour["peers"]): { name: string; share: number }[] {
  return usual.slice(0, MAX_THINGS).map(({ name, share }) => ({ name: name.slice(0, MAX_THING), share: round(share) }));
}

function at(seconds: number): string {
  return toInstant(seconds * 1000);
}

/** To four digits. */
function round(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(4)) : 0;
}
