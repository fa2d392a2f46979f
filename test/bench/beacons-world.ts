import type { Connection } from "@lanthorn/anomaly";
import { seededRandom } from "@lanthorn/runtime";

const HOUR = 3600;
const DAY = 24 * HOUR;
/** A Monday, 00:00 UTC. */
const BEGIN = 1_767_571_200;
const DEVICES = 60;
const DAYS = 11;
/** Before this nothing is infected. */
const CLEAN_DAYS = 3.5;
const BEACONS = 120;
const VENDORS = 8;
const SITES = 3000;

/** A site's connections in order of time, and which of its pairs are beacons. */
export interface BeaconWorld {
  readonly connections: readonly Connection[];
  readonly beacons: ReadonlyMap<string, BeaconPlan>;
}

/** How one seeded beacon behaves. */
export interface BeaconPlan {
  readonly periodSeconds: number;
  /** Share of the period by which a wait is longer or shorter, at most. */
  readonly jitter: number;
  /** Share of its connections that fail. */
  readonly loss: number;
  /** Whether its host sleeps eight hours a night. */
  readonly sleeps: boolean;
}

/** A share from 0 to below 1. */
type Draw = () => number;

/** Makes the same connections for the same seed. */
export function makeBeaconWorld(seed: number): BeaconWorld {
  const draw = seededRandom(seed);
  const random = () => draw(2 ** 30) / 2 ** 30;
  const connections: Connection[] = [];
  for (let index = 0; index < DEVICES; index += 1) addOrdinary(connections, `device-${index}`, index, random);
  const beacons = new Map<string, BeaconPlan>();
  for (let index = 0; index < BEACONS; index += 1) {
    const device = `device-${Math.floor(random() * DEVICES)}`;
    const peer = `c2-${index}`;
    const plan = {
      periodSeconds: 30 * (6 * 120) ** random(), jitter: 0.5 * random(), loss: 0.2 * random(), sleeps: random() < 0.5,
    };
    beacons.set(`${device} ${peer}`, plan);
    addBeacon(connections, { device, peer }, plan, random);
  }
  return { connections: connections.toSorted((a, b) => a.at - b.at), beacons };
}

function addBeacon(into: Connection[], pair: { device: string; peer: string }, plan: BeaconPlan, random: Draw): void {
  const size = 300 + 3000 * random();
  const bed = random() * DAY;
  let at = BEGIN + (CLEAN_DAYS + 0.5 * random()) * DAY;
  while (at < BEGIN + DAYS * DAY) {
    const asleep = plan.sleeps && (at - BEGIN + bed) % DAY < 8 * HOUR;
    const task = random() < 0.05 ? 10_000 * random() : 0;
    if (!asleep) into.push({ ...pair, at, bytes: Math.round(size + 40 * random() + task), answered: random() >= plan.loss });
    at += plan.periodSeconds * (1 + plan.jitter * (2 * random() - 1));
  }
}

interface Periodic {
  readonly device: string;
  readonly peer: string;
  readonly periodSeconds: number;
  readonly jitter: number;
  readonly bytes: number;
  readonly from?: number;
  readonly to?: number;
  readonly answered?: boolean;
}

function addPeriodic(into: Connection[], plan: Periodic, random: Draw): void {
  const { device, peer, periodSeconds, jitter, bytes, from = BEGIN, to = BEGIN + DAYS * DAY, answered = true } = plan;
  let at = from + periodSeconds * random();
  while (at < to) {
    into.push({ device, peer, at, bytes: Math.round(bytes * (1 + 0.1 * random())), answered });
    at += periodSeconds * (1 + jitter * (2 * random() - 1));
  }
}

/** What a device does that nobody should hear of. */
function addOrdinary(into: Connection[], device: string, index: number, random: Draw): void {
  const add = (plan: Omit<Periodic, "device">) => addPeriodic(into, { device, ...plan }, random);
  for (let server = 0; server < 3; server += 1) {
    add({ peer: `ntp-${(index * 3 + server * 7) % 12}`, periodSeconds: 64 * 2 ** Math.floor(2 + 3 * random()), jitter: 0.02, bytes: 180 });
  }
  // The vendor's cloud changes its address in the middle; each device has one of its own too, and a host that is gone.
  const vendor = index % VENDORS;
  const moves = BEGIN + 6 * DAY;
  const every = 60 * (1 + Math.floor(30 * random()));
  add({ peer: `vendor-${vendor}-a`, periodSeconds: every, jitter: 0.05, bytes: 900, to: moves });
  add({ peer: `vendor-${vendor}-b`, periodSeconds: every, jitter: 0.05, bytes: 900, from: moves });
  add({ peer: `own-cloud-${index}`, periodSeconds: 60 + 3600 * random(), jitter: 0.1, bytes: 1200 });
  add({ peer: `gone-${index}`, periodSeconds: 30 + 300 * random(), jitter: 0.01, bytes: 0, answered: false, from: BEGIN + 5 * DAY });
  add({ peer: `updates-${index % 5}`, periodSeconds: 6 * HOUR, jitter: 0.2, bytes: 40_000 });
  for (let day = 0; day < DAYS; day += 1) {
    const morning = BEGIN + day * DAY + (7.5 + 1.5 * random()) * HOUR;
    const evening = BEGIN + day * DAY + (17 + 3 * random()) * HOUR;
    if (index % 3 === 0) add({ peer: `mail-${index % 2}`, periodSeconds: 300, jitter: 0.05, bytes: 2500, from: morning, to: evening });
    if (index % 3 !== 2) browse(into, device, morning, evening, random);
  }
}

/** Visits of a few sites, some of them again and again, each a burst; some leave a tab open that asks every so often. */
function browse(into: Connection[], device: string, from: number, to: number, random: Draw): void {
  let at = from;
  while (at < to) {
    // Few sites are popular and many are not.
    const peer = `site-${Math.floor(SITES ** random())}`;
    const burst = 1 + Math.floor(8 * random());
    for (let connection = 0; connection < burst; connection += 1) into.push({ device, peer, at: at + 20 * random() ** 3, bytes: Math.round(500 * 400 ** random()), answered: true });
    if (random() < 0.04) {
      addPeriodic(into, { device, peer, periodSeconds: 15 + 45 * random(), jitter: 0.02, bytes: 700, from: at, to: Math.min(to, at + 3 * HOUR * random()) }, random);
    }
    at += -600 * Math.log(1 - random());
  }
}
