import { createDistinct, type Distinct } from "../sketches/distinct.ts";
import { FEATURES } from "../features.ts";
import { createKnownSet, type KnownSet } from "../sketches/known-set.ts";
import { createLeading, type LeadingCounts } from "../sketches/leading.ts";
import { createLeadingPorts, type LeadingPorts, MAX_PORTS } from "../sketches/leading-ports.ts";
import { createProfile, type Profile } from "../profile.ts";
import { createHourMet, createUsual, type HourMet, type SavedUsual, type Usual } from "./usual.ts";

/** Seconds that one value of a series stands for. */
export const BUCKET_SECONDS = 300;
/** The last three hours are shown beside an anomaly. */
export const RECENT_BUCKETS = 36;
/** How many a device is known to have met; see `createKnownSet`. */
export const KNOWN_SIZES = { peers: 512, ports: 64, regions: 32, admin_peers: 64 } as const;
/** What a device is known to have met. */
export type KnownKind = keyof typeof KNOWN_SIZES;
/** In the order in which they are saved. */
export const KNOWN_KINDS = ["peers", "ports", "regions", "admin_peers"] as const satisfies readonly KnownKind[];

/** Learning: nothing is said of it. Drifted: what was unusual for days is learned anew. Frozen: compared, but not learned. */
export const LIFECYCLES = ["learning", "active", "drifted", "frozen"] as const;
/** One of `LIFECYCLES`. */
export type Lifecycle = (typeof LIFECYCLES)[number];

/** Something that was met for the first time. */
export interface News {
  readonly kind: "region" | "admin";
  /** The region, or the peer with its port. */
  readonly what: string;
  readonly peer: string;
  /** Of a region: flows to it in the hour in which it was met. */
  flows: number;
}

/** What is remembered of one device, or of the site: some 30 KB, however much it does; 9 KB before the first hour is over. */
export interface Device {
  readonly key: string;
  profile: Profile;
  readonly known: Readonly<Record<KnownKind, KnownSet>>;
  readonly leading: LeadingPorts;
  readonly usual: Usual;
  /** What is counted now, and of the hour before while it is compared. */
  hour: HourCounts;
  closed: HourCounts;
  recent: Float32Array;
  group: string;
  lifecycle: Lifecycle;
  /** Since when it is in this state, by packet time. */
  lifecycleSince: number;
  firstAt: number;
  /** Hours that were learned. */
  hours: number;
  /** Regions and administered hosts that it met for the first time, since it is known. */
  regionsMet: number;
  adminPeersMet: number;
  /** What is left of the evidence of the hours before. */
  carried: number;
  /** Since when something unusual goes on; 0 for nothing. */
  openSince: number;
  quietHours: number;
  /** Until when a drifted one learns anew. */
  driftUntil: number;
  /** The bucket that `recent` ends with. What is counted now is of the next one. */
  lastBucket: number;
  /** How often the clock was set, and how much time was not watched, as far as the device follows it. */
  steps: number;
  unwatched: number;
}

/** What was counted in this hour and in this bucket of it. */
export interface HourCounts {
  readonly counts: Float64Array;
  readonly bucket: Float64Array;
  readonly distinct: Readonly<Record<"peers" | "ports" | "names" | "inside", Distinct>>;
  readonly met: HourMet;
  /** Hashes of what was met, that the device is to know once the hour is learned: no more of a kind than it may know. */
  readonly seen: Readonly<Record<KnownKind, Set<number>>>;
  /** Ports that were used or offered most. */
  readonly leading: LeadingCounts;
  news: News[];
  /** Bytes sent to the peers outside that got most. */
  readonly sentTo: Map<string, number>;
  /** Those of them that few devices used then. */
  readonly rarePeers: Set<string>;
}

/** What was saved of a device beside its profile and numbers. */
export interface SavedParts {
  readonly known: Partial<Record<KnownKind, Uint32Array>>;
  readonly ports: Iterable<readonly [string, number]>;
  readonly usual: SavedUsual | null;
}

const NOTHING_SAVED: SavedParts = { known: {}, ports: [], usual: null };

/** Stand for what a device has not got yet: very many may be seen once, and never again. Nothing but what is there already is written into them. */
const NOTHING_LEARNED = createProfile("device");
const NOTHING_RECENT = createRecent();
const NOTHING_COUNTED = createHourCounts();

/** One of which nothing is known yet, beside what was saved. */
export function createDevice(key: string, at: number, { known, ports, usual }: SavedParts = NOTHING_SAVED): Device {
  const set = (kind: KnownKind) => createKnownSet(KNOWN_SIZES[kind], known[kind] ?? null);
  return {
    key, profile: NOTHING_LEARNED, leading: createLeadingPorts(ports), recent: NOTHING_RECENT,
    known: { peers: set("peers"), ports: set("ports"), regions: set("regions"), admin_peers: set("admin_peers") },
    usual: createUsual(usual), hour: createHourCounts(), closed: NOTHING_COUNTED,
    group: "", lifecycle: "learning", lifecycleSince: at, firstAt: at, hours: 0, regionsMet: 0, adminPeersMet: 0, carried: 0, openSince: 0, quietHours: 0, driftUntil: 0, lastBucket: 0, steps: 0, unwatched: 0,
  };
}

/** What is usual for it, to be changed. */
export function profileToLearn(device: Device): Profile {
  if (device.profile === NOTHING_LEARNED) device.profile = createProfile("device");
  return device.profile;
}

function createRecent(): Float32Array {
  return new Float32Array(RECENT_BUCKETS * FEATURES.length);
}

function createHourCounts(): HourCounts {
  return {
    counts: new Float64Array(FEATURES.length), bucket: new Float64Array(FEATURES.length), news: [], sentTo: new Map(), rarePeers: new Set(), met: createHourMet(),
    seen: { peers: new Set(), ports: new Set(), regions: new Set(), admin_peers: new Set() }, leading: createLeading(MAX_PORTS),
    distinct: { peers: createDistinct(), ports: createDistinct(), names: createDistinct(), inside: createDistinct() },
  };
}

/** Ends five-minute buckets: what was counted in the first of them becomes part of the hour and of the series, and nothing was in the others. @param last The last of them. */
export function closeBuckets(device: Device, last: number): void {
  if (last <= device.lastBucket) return;
  const { counts, bucket } = device.hour;
  const counted = device.lastBucket + 1;
  if (device.recent === NOTHING_RECENT) device.recent = createRecent();
  for (let number = Math.max(counted, last - RECENT_BUCKETS + 1); number <= last; number += 1) rowOf(device.recent, number).fill(0);
  if (counted > last - RECENT_BUCKETS) rowOf(device.recent, counted).set(bucket);
  for (let place = 0; place < bucket.length; place += 1) counts[place] = (counts[place] ?? 0) + (bucket[place] ?? 0);
  bucket.fill(0);
  device.lastBucket = last;
}

/** Begins another hour: what was counted is compared by and by. */
export function closeHour(device: Device): void {
  const { hour, closed } = device;
  device.closed = hour;
  device.hour = closed === NOTHING_COUNTED ? createHourCounts() : closed;
}

/** Forgets an hour, after it was learned or because it is not to be trusted. */
export function clearHour(hour: HourCounts): void {
  hour.counts.fill(0);
  hour.bucket.fill(0);
  hour.news = [];
  hour.sentTo.clear();
  hour.rarePeers.clear();
  for (const distinct of Object.values(hour.distinct)) distinct.clear();
  for (const counted of [...Object.values(hour.met), ...Object.values(hour.seen), hour.leading]) counted.clear();
}

/** Takes note of something in an hour. @returns Whether the device meets it for the first time. */
export function isFirstMet({ known, hour, closed }: Device, kind: KnownKind, hash: number): boolean {
  const seen = hour.seen[kind];
  if (seen.has(hash) || seen.size >= KNOWN_SIZES[kind]) return false;
  seen.add(hash);
  return !closed.seen[kind].has(hash) && !known[kind].has(hash);
}

/** What was met in the hour before is known from now on. */
export function learnSeen({ known, leading, closed }: Device): void {
  for (const kind of KNOWN_KINDS) for (const hash of closed.seen[kind]) known[kind].add(hash);
  leading.learn(closed.leading);
}

/** A bucket's counts, in the order of `FEATURES`. */
export function rowOf(recent: Float32Array, bucketNumber: number): Float32Array {
  const row = ((bucketNumber % RECENT_BUCKETS) + RECENT_BUCKETS) % RECENT_BUCKETS;
  return recent.subarray(row * FEATURES.length, (row + 1) * FEATURES.length);
}
