import type { MetBefore } from "./comparing/evidence.ts";
import { createProfile, learnHour, type Profile } from "./profile.ts";

const HOURS_A_DAY = 24;
/** More kinds of device than a site has. */
const MAX_GROUPS = 64;
/** So many hours of members make a group that a newcomer is compared with: three devices for a week. */
const MIN_GROUP_HOURS = 3 * 7 * HOURS_A_DAY;

/** Like devices: those that use or offer the same ports most. */
export interface Group {
  readonly profile: Profile;
  /** Hours of members that were learned, and what they met for the first time. */
  hours: number;
  regionsMet: number;
  adminPeersMet: number;
}

/** Groups by name, a bounded number. The one that was not learned for longest gives way. */
export interface Groups {
  /** The group; an empty one where there is none of that name. */
  readonly get: (name: string) => Group;
  readonly learn: (name: string, slot: number, scaled: Float64Array) => void;
  /** Counts what a member met for the first time, also in an hour that is not learned. */
  readonly noteMet: (name: string, met: { readonly regions: number; readonly adminPeers: number }) => void;
  /** Whether enough is known of it for a device of which little is known. */
  readonly isKnown: (name: string) => boolean;
  readonly entries: () => Iterable<[string, Group]>;
  readonly restore: (name: string, group: Group) => void;
  readonly clear: () => void;
}

const EMPTY: Group = { profile: createProfile("group"), hours: 0, regionsMet: 0, adminPeersMet: 0 };

/** No groups. */
export function createGroups(): Groups {
  const groups = new Map<string, Group>();
  function restore(name: string, group: Group): void {
    groups.delete(name);
    groups.set(name, group);
    if (groups.size > MAX_GROUPS) groups.delete(groups.keys().next().value ?? "");
  }
  return {
    get: (name) => groups.get(name) ?? EMPTY,
    learn(name, slot, scaled) {
      if (name === "") return;
      const group = groups.get(name) ?? { ...EMPTY, profile: createProfile("group") };
      learnHour(group.profile, slot, scaled);
      group.hours += 1;
      restore(name, group);
    },
    noteMet(name, met) {
      const group = groups.get(name);
      if (!group) return;
      group.regionsMet += met.regions;
      group.adminPeersMet += met.adminPeers;
    },
    isKnown: (name) => (groups.get(name)?.hours ?? 0) >= MIN_GROUP_HOURS,
    entries: () => groups,
    restore,
    clear: () => groups.clear(),
  };
}

/** How often a group meets regions, or hosts that it administers. */
export function metByGroup(group: Group, kind: "region" | "admin"): MetBefore {
  return { events: kind === "region" ? group.regionsMet : group.adminPeersMet, days: group.hours / HOURS_A_DAY };
}
