import type { BEHAVIOUR_COMMANDS, CommandData, LearnedBehaviour, Lifecycle, ProbeCoverage, TrafficHealth } from "@lanthorn/contract";

const SINCE = "2026-11-20T08:00:00.000Z";
const unseen = { value: false, since: SINCE };
const hours = (from: number, to: number, value: number, otherwise: number) => Array.from({ length: 24 }, (_, hour) => (hour >= from && hour < to ? value : otherwise));

/** What a probe at an access port says of its place. */
export const COVERAGE: ProbeCoverage = {
  vlans: { value: [], since: SINCE }, other_hosts: { value: "none", since: SINCE }, gateway: { value: "answers", since: SINCE }, lldp: unseen, cdp: unseen, spanning_tree: unseen, ipv6: unseen,
  dhcp: { value: "asked", since: SINCE },
};

/** What a probe reports that reads traffic. */
export const TRAFFIC: TrafficHealth = {
  state: "running", error: null, memory_bytes: 1e8, restarts: 0, gap: null, interfaces: [{ name: "eth0", up: true, frames: 1000, octets: 90_000, dropped_by_kernel: 0 }], shed: [], ring: { seconds: 30, bytes: 90_000 },
  captures: [], continuous: null,
  anomaly: { learning: 2, active: 6, drifted: 1, frozen: 1, evicted: 0, compared_hours: 30, distrusted_hours: 1, clock_steps: 0, found: 3, held_back: 0, suppressed: 1, left_out: 0, flows_left_out: 0, damaged: 0 },
};

/** Replies to commands on what was learned, as a probe's that knows one device, whose hosts call themselves what an attacker would. */
export function createLearned(mac: string): { readonly [C in keyof typeof BEHAVIOUR_COMMANDS]: (probe: unknown, data: CommandData<C>) => Readonly<Record<string, unknown>> } {
  let lifecycle: Lifecycle | null = "active";
  const isMeant = (devices: readonly string[] | null) => lifecycle !== null && (devices === null || devices.includes(mac));
  const learned = (state: Lifecycle): LearnedBehaviour => ({
    device: mac, lifecycle: state, lifecycle_since: SINCE, known_since: "2026-11-11T07:30:00.000Z", hours_learned: 212, unusual_since: "2026-11-21T09:00:00.000Z", relearned_until: null, group: "<b>uses tcp/443</b>", group_hours: 1900, is_group_known: true,
    days: { workdays: hours(6, 20, 7, 0), weekends: hours(0, 24, 0, 0) },
    features: [
      { name: "bytes_out", highest: 5_200_000, workdays: { usual: hours(8, 17, 1_200_000, 0), expected_high: hours(8, 17, 4_100_000, 10_000) }, weekends: { usual: hours(0, 24, 0, 0), expected_high: hours(0, 24, 10_000, 0) } },
      { name: "nxdomain_share", highest: 0.4, workdays: { usual: hours(8, 17, 0.1, 0), expected_high: hours(8, 17, 0.3, 0) }, weekends: { usual: hours(0, 24, 0, 0), expected_high: hours(0, 24, 0, 0) } },
    ],
    peers: Array.from({ length: 8 }, (_, at) => ({ name: at === 0 ? "<img src=x>.example" : `203.0.113.${at}`, share: 0.92 - at / 10 })), ports: [{ name: "uses tcp/443", share: 0.98 }],
    names: [{ name: `\u202E${"n".repeat(150)}.example`, share: 0.5 }],
  });
  return {
    behaviour_read: (_, { devices }) => ({ behaviour: lifecycle !== null && devices.includes(mac) ? learned(lifecycle) : null }),
    behaviour_list(_, { lifecycles, behind }) {
      const all = lifecycle !== null && (lifecycles === null || lifecycles.includes(lifecycle)) ? [learned(lifecycle)] : [];
      return { devices: behind === 0 || (typeof behind === "string" && behind < mac) ? all : [], total: all.length };
    },
    behaviour_freeze(_, { devices, is_frozen: isFrozen }) {
      if (!isMeant(devices)) return { devices: 0 };
      lifecycle = isFrozen ? "frozen" : "active";
      return { devices: 1 };
    },
    behaviour_reset(_, { devices }) {
      if (!isMeant(devices)) return { devices: 0 };
      lifecycle = null;
      return { devices: 1 };
    },
  };
}
