import { type BeaconFinding, type BeaconWatch, createBeaconWatch } from "../beacon/watch.ts";
import { type Accepted, createAcceptedList } from "./accepted.ts";
import { type Anomaly, explainBeacon, type Explained } from "./anomaly.ts";
import { createBudget } from "./budget.ts";
import { countBroadcast, countOriginator, countQuery, countResponder } from "./count-flow.ts";
import { createHourComparison } from "./comparing/comparison.ts";
import type { Watched } from "./coverage.ts";
import type { Lifecycle } from "./devices/device.ts";
import { createDeviceTable, type DeviceState } from "./devices/device-table.ts";
import { describeDevice, type DeviceBehaviour } from "./devices/describe-device.ts";
import type { ObservedBroadcast, ObservedFlow, ObservedQuery } from "./flow.ts";
import { createGroups } from "./groups.ts";
import { createPacketClock, type PacketClock } from "./packet-clock.ts";
import { createHostUse } from "./sketches/host-use.ts";
import { createRegionUse } from "./sketches/region-use.ts";
import { createSaving } from "./saving.ts";
import { createSiteSeries } from "./site-series.ts";
import type { SavedEntry } from "../sealed.ts";

/** How much is followed, and how much is said. */
export interface BehaviourBounds {
  /** Some 30 KB each. The one that was silent for longest gives way. */
  readonly maxDevices: number;
  /** Pairs of a device and a peer that are looked at for beacons: 1 KB each. */
  readonly maxPairs: number;
  readonly alertsADay: number;
}

/** Learns what is usual for the devices of a site, in bounded memory and by packet time only. */
export interface BehaviourWatch {
  readonly flow: (flow: ObservedFlow) => void;
  readonly query: (query: ObservedQuery) => void;
  readonly broadcast: (broadcast: ObservedBroadcast) => void;
  /** Packet time has come so far: an hour that is over is to be compared. Frames without a flow move it too. It costs the same, however many devices there are. */
  readonly advance: (at: number) => void;
  /**
   * Goes on with what is to be done of an hour that is over, by one device. What is left when the next hour is over is done then, at once.
   * @returns Whether something is left.
   */
  readonly work: () => boolean;
  /** Nobody looked for a part of the hour: it is neither compared nor learned. */
  readonly distrustHour: () => void;
  /** Frames or flows were seen, and others were not. An hour of which more than a hundredth is missing is compared, because a flood may be an attack, and not learned. Flows may be said as the seconds whose flows were seen: then a burst is worth no more than it lasts. */
  readonly noteSeen: (what: Watched, seen: number, missed: number) => void;
  /** What people say is normal, in place of what they said before. */
  readonly accept: (accepted: readonly Accepted[]) => void;
  /**
   * A frozen device is compared and not learned.
   * @param at Since when, in seconds, where no packet was seen yet; else it is packet time.
   * @returns Whether there is such a device.
   */
  readonly freeze: (device: string, isFrozen: boolean, at: number) => boolean;
  /** Forgets a device, and the pairs that it is an end of. @returns Whether there was such a device. */
  readonly reset: (device: string) => boolean;
  /** Forgets all that was learned, of groups and of the site too; not what people said is normal. */
  readonly resetAll: () => void;
  /** What is usual for a device. @returns Null where it is not known. */
  readonly describe: (device: string) => DeviceBehaviour | null;
  readonly states: () => Iterable<DeviceState>;
  /** Takes back an entry that `save` gave. What is damaged is left out, counted, and learned anew. @returns Whether it could be read. */
  readonly restore: (entry: SavedEntry) => boolean;
  /** One entry for each device and group, made as it is asked for, so that saving may pause between two. */
  readonly save: () => Iterable<SavedEntry>;
  readonly counts: () => BehaviourCounts;
}

/** Sums since it was made. */
export interface BehaviourCounts {
  readonly devices: number;
  readonly evicted: number;
  readonly lifecycles: Readonly<Record<Lifecycle, number>>;
  /** The clock went back by more than a bucket, or jumped over more than an hour. */
  readonly clockSteps: number;
  /** Saved entries that could not be read, and are learned anew: damaged ones, and those of another version of this package. */
  readonly damaged: number;
  readonly otherVersion: number;
  /** Anomalies that somebody said are normal. */
  readonly suppressed: number;
  /** Hours that were compared, those of them that were not learned because frames or flows were missing, and hours that were not compared because nobody looked for a part of them. */
  readonly comparedHours: number;
  readonly thinHours: number;
  readonly distrustedHours: number;
}

/** Hosts outside of which it is known whether many use them. */
const MAX_PEERS = 16_384;

/**
 * @param deps.onAnomaly Is called while an hour is compared, or for a beacon as it is found.
 */
export function createBehaviourWatch(deps: {
  readonly bounds: BehaviourBounds; readonly onAnomaly: (anomaly: Anomaly) => void;
}): BehaviourWatch {
  const { bounds } = deps;
  const groups = createGroups();
  const clock = createPacketClock({ onHour: (at, fate) => comparison.begin(at, fate), onStep: skip });
  const devices = createDeviceTable({ maxDevices: bounds.maxDevices, groups, clock: clock.read });
  let suppressed = 0;
  const regions = createRegionUse();
  const peers = createHostUse(MAX_PEERS);
  const accepted = createAcceptedList();
  const budget = createBudget(bounds.alertsADay);
  const beacons = createBeaconWatch({ maxPairs: bounds.maxPairs, maxDevices: bounds.maxDevices });
  const siteSeries = createSiteSeries();
  const comparison = createHourComparison({ devices, groups, regions, peers, siteSeries, onFound: say });
  const saving = createSaving({ clock, budget, regions, devices, beacons, siteSeries });

  function say(anomaly: Explained): void {
    if (accepted.covers(anomaly)) suppressed += 1;
    else deps.onAnomaly({ ...anomaly, siteSeries: siteSeries.unusual(), isWithinBudget: budget.take(anomaly.at) });
  }

  /** What is left of the hour before is compared by the clock as it went then. */
  function skip(by: number): void {
    while (comparison.work());
    for (const use of [regions, peers]) use.dropHour();
    regions.shift(by);
  }

  return {
    flow(flow) {
      if (!Number.isFinite(flow.at + flow.startedAt + flow.bytesOut + flow.bytesIn + flow.packets)) return;
      clock.advance(flow.at);
      if (!flow.isResponderInside && flow.isFirstPart) peers.use(flow.responder, flow.originator);
      const isRarePeer = !flow.isResponderInside && !peers.isCommon(flow.responder);
      countOriginator(devices.site(), flow, isRarePeer);
      // Addresses that nobody has, and that a scan asks, are no devices.
      if (flow.isResponderInside && (!flow.hasFailed || devices.find(flow.responder))) countResponder(devices.get(flow.responder, flow.at), flow);
      if (!flow.isOriginatorInside) return;
      const device = devices.get(flow.originator, flow.at);
      countOriginator(device, flow, isRarePeer);
      if (flow.region !== "") regions.use(flow.region, flow.originator, flow.at);
      const finding = observeBeacon(flow, { clock, beacons });
      if (finding && device.lifecycle !== "learning" && device.lifecycle !== "drifted") say(explainBeacon(device, finding, flow.at));
    },
    query(query) {
      if (!Number.isFinite(query.at)) return;
      clock.advance(query.at);
      countQuery(devices.site(), query);
      countQuery(devices.get(query.device, query.at), query);
    },
    broadcast(broadcast) {
      if (!Number.isFinite(broadcast.at + broadcast.packets)) return;
      clock.advance(broadcast.at);
      for (const device of [devices.site(), devices.get(broadcast.device, broadcast.at)]) countBroadcast(device, broadcast);
    },
    advance: clock.advance,
    work: comparison.work,
    distrustHour: clock.distrustHour,
    noteSeen: clock.noteSeen,
    accept: accepted.replace,
    freeze: (device, isFrozen, at) => devices.freeze(device, isFrozen, Number.isNaN(clock.read().now) ? at : clock.read().now),
    reset(device) {
      beacons.forget(device);
      return devices.reset(device);
    },
    resetAll() {
      comparison.drop();
      for (const part of [devices, groups, beacons, regions, peers, siteSeries]) part.clear();
    },
    describe(key) {
      const device = devices.find(key);
      return device && describeDevice(device, groups);
    },
    states: devices.states,
    restore: saving.restore,
    save: saving.save,
    counts: () => ({ ...devices.counts(), ...clock.counts(), ...saving.counts(), suppressed }),
  };
}

/** Pairs are as old as they were watched; what is found is said in packet time. */
function observeBeacon(flow: ObservedFlow, { clock, beacons }: { readonly clock: PacketClock; readonly beacons: BeaconWatch }): BeaconFinding | null {
  const { at, startedAt, originator, bytesOut, bytesIn, hasFailed } = flow;
  if (!flow.isFirstPart || flow.isResponderInside || !clock.isOfNow(startedAt)) return null;
  const finding = beacons.observe({ at: clock.watched(startedAt), device: originator, peer: `${flow.responder} ${flow.port}`, bytes: bytesOut + bytesIn, answered: !hasFailed });
  return finding && { ...finding, firstAt: finding.firstAt + at - clock.watched(at) };
}
