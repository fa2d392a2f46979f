/** What is usual for a device, as the collector gets it. */
import type { DeviceBehaviour, DeviceState, UsualFeature } from "@lanthorn/anomaly";
import type { BehaviourListReply, CommandData, LearnedBehaviour, LearnedDevice } from "@lanthorn/contract/uplink";
import { toInstant } from "@lanthorn/runtime";

const MAX_NAME = 64;
const MAX_THINGS = 32;
/** Names of devices and hosts come from us or are as long; those of DNS are cut where they are kept. */
const MAX_THING = 160;

/** Figures are rounded: nobody reads more of them, and a message is shorter. */
export function toLearnedBehaviour(known: DeviceBehaviour): LearnedBehaviour {
  const [first] = known.features;
  return {
    ...toLearnedDevice(known),
    unusual_since: known.openSince === null ? null : at(known.openSince), relearned_until: known.driftUntil === null ? null : at(known.driftUntil),
    group_hours: known.groupHours, is_group_known: known.isGroupKnown,
    days: { workdays: (first?.workdays ?? []).map(({ days }) => days), weekends: (first?.weekends ?? []).map(({ days }) => days) },
    features: known.features.map((feature) => ({ name: feature.name, highest: round(feature.highest), workdays: hoursOf(feature.workdays), weekends: hoursOf(feature.weekends) })),
    peers: things(known.peers), ports: things(known.ports), names: things(known.names),
  };
}

/** Some of the devices that are known, by their names. */
export function listLearned(states: Iterable<DeviceState>, { lifecycles, behind, limit }: CommandData<"behaviour_list">): BehaviourListReply {
  const all = [...states].filter(({ lifecycle }) => lifecycles?.includes(lifecycle) ?? true).sort((a, b) => (a.device < b.device ? -1 : 1));
  const found = typeof behind === "number" ? behind : all.findIndex(({ device }) => device > behind);
  const first = found < 0 ? all.length : found;
  return { devices: all.slice(first, first + limit).map(toLearnedDevice), total: all.length };
}

function toLearnedDevice({ device, lifecycle, lifecycleSince, firstAt, hours, group }: DeviceState): LearnedDevice {
  return { device: device.slice(0, MAX_NAME), lifecycle, lifecycle_since: at(lifecycleSince), known_since: at(firstAt), hours_learned: hours, group: group.slice(0, MAX_NAME) };
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
