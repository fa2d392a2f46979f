import { hashText } from "../fnv.ts";
import type { SavedEntry } from "../sealed.ts";
import { addConnection, createPairHistory, type PairHistory } from "./history.ts";
import { type BeaconScore, differenceOf, scoreBeacon } from "./score.ts";
import { BEACON_ENTRIES, readPair, readSince, readSketch, writePair, writeSince, writeSketch } from "./state.ts";

/** A connection that ended or was seen to begin. */
export interface Connection {
  /** Seconds of packet time, with their fraction. */
  readonly at: number;
  readonly device: string;
  /** Whom it goes to: a name where one is known, else an address; with protocol and port. */
  readonly peer: string;
  readonly bytes: number;
  /** Whether the peer answered: one that fails is tried again at fixed times by every system. */
  readonly answered: boolean;
}

/** A pair whose connections are a beacon's, of a peer that is new to the device and rare at the site. */
export interface BeaconFinding {
  readonly device: string;
  readonly peer: string;
  readonly score: BeaconScore;
  /** The total less what the peer's being common takes off: 0 to 1. */
  readonly adjusted: number;
  readonly firstAt: number;
  /** Devices that the peer is known to serve; some 60 and more are not distinguished. */
  readonly devicesOfPeer: number;
}

/** Looks for beacons among a site's connections, in bounded memory. */
export interface BeaconWatch {
  /** Takes a connection; gives a finding once a pair, when it first is one. */
  readonly observe: (connection: Connection) => BeaconFinding | null;
  /** Takes back an entry that `save` gave. @returns Whether it could be read; null for what is no entry of beacons. */
  readonly restore: (entry: SavedEntry) => boolean | null;
  /** Forgets a device and its pairs. */
  readonly forget: (device: string) => void;
  readonly clear: () => void;
  /** One entry for each pair, device and peer, made as it is asked for. */
  readonly save: () => Iterable<SavedEntry>;
  /** Pairs that are followed, and pairs that gave way to others. */
  readonly counts: () => { readonly pairs: number; readonly evicted: number };
}

interface Pair {
  readonly device: string;
  readonly history: PairHistory;
  nextScoreAt: number;
  /** Reported, or known to be another's successor: it is not looked at again. */
  isSettled: boolean;
}

/** What a device does in its first days is usual for it: the telemetry of a camera is no news. */
const LEARNING_SECONDS = 3 * 86_400;
/** Adjusted totals from here are reported. */
const REPORTED_FROM = 0.8;
/** Below these, no total helps: a tab that polls is regular too, but ends. */
const MIN_TIMING = 0.7;
const MIN_DURATION = 0.5;
/** A peer of so small a share of the devices is rare; one of the larger share is common, and loses RITA's 15 points. */
const RARE_SHARE = 0.05;
const COMMON_SHARE = 0.25;
const COMMON_LOSS = 0.15;
/** A service that moved is as regular and as large as before, and the old address falls silent as the new one is used. */
const HANDOVER_INTERVALS = 4;
const ALIKE_WITHIN = 0.2;
const SCORE_SECONDS = 3600;
/** Connections are reported in the order in which they end: one that is earlier than the last by less is left out. */
const MAX_STEP_BACK_SECONDS = 3600;
/** A sketch of who uses a peer, of two words of 32 bits. */
const SKETCH_BITS = 64;

/** @param bounds Pairs and devices that are followed at most; the least recently active give way. */
export function createBeaconWatch(bounds: { readonly maxPairs: number; readonly maxDevices: number }): BeaconWatch {
  const pairs = new Map<string, Pair>();
  const devices = new Map<string, number>();
  const peers = new Map<string, Uint32Array>();
  let evicted = 0;

  function judge(connection: Connection, pair: Pair, sketch: Uint32Array, deviceSince: number): BeaconFinding | null {
    const { device, peer, at } = connection;
    if (pair.isSettled || at < pair.nextScoreAt || pair.history.firstAt < deviceSince + LEARNING_SECONDS) return null;
    pair.nextScoreAt = at + SCORE_SECONDS;
    const score = scoreBeacon(pair.history);
    if (!score || score.timing < MIN_TIMING || score.duration < MIN_DURATION) return null;
    const devicesOfPeer = usersOf(sketch);
    const adjusted = score.total - lossOf(devicesOfPeer, devices.size);
    if (adjusted < REPORTED_FROM) return null;
    pair.isSettled = true;
    if (hasPredecessor(pairs.values(), pair, score.intervalSeconds)) return null;
    return { device, peer, score, adjusted, firstAt: pair.history.firstAt, devicesOfPeer };
  }

  function restore({ kind, key, bytes }: SavedEntry): boolean | null {
    if (kind === BEACON_ENTRIES.pair) {
      const saved = readPair(bytes);
      // A device's name has no space in it.
      if (saved) keep(pairs, key, { ...saved, device: key.slice(0, key.indexOf(" ")), nextScoreAt: 0 }, bounds.maxPairs);
      return saved !== null;
    }
    if (kind === BEACON_ENTRIES.device) {
      const since = readSince(bytes);
      if (since !== null) keep(devices, key, since, bounds.maxDevices);
      return since !== null;
    }
    if (kind !== BEACON_ENTRIES.peer) return null;
    const sketch = readSketch(bytes, SKETCH_BITS / 32);
    if (sketch) keep(peers, key, sketch, bounds.maxPairs);
    return sketch !== null;
  }

  return {
    observe: (connection) => {
      const { at, device, peer, bytes, answered } = connection;
      if (!answered || !Number.isFinite(at) || !Number.isFinite(bytes)) return null;
      // A clock that was ahead must not leave a device or a pair in a time that is yet to come.
      const since = Math.min(devices.get(device) ?? at, at);
      keep(devices, device, since, bounds.maxDevices);
      const sketch = peers.get(peer) ?? new Uint32Array(SKETCH_BITS / 32);
      const bit = hashText(device) % SKETCH_BITS;
      sketch[bit >>> 5] = (sketch[bit >>> 5] ?? 0) | (1 << (bit & 31));
      keep(peers, peer, sketch, bounds.maxPairs);
      const key = `${device} ${peer}`;
      const pair = begunAnew(pairs.get(key) ?? null, at, since) ?? { device, history: createPairHistory(), nextScoreAt: 0, isSettled: false };
      if (keep(pairs, key, pair, bounds.maxPairs)) evicted += 1;
      addConnection(pair.history, at, bytes);
      return judge(connection, pair, sketch, since);
    },
    restore,
    forget(device) {
      devices.delete(device);
      for (const [key, pair] of pairs) if (pair.device === device) pairs.delete(key);
    },
    clear() {
      for (const map of [pairs, devices, peers]) map.clear();
    },
    *save() {
      // See the table of devices: none of these is to be come by twice.
      for (const [key, since] of Array.from(devices)) yield { kind: BEACON_ENTRIES.device, key, bytes: writeSince(since) };
      for (const [key, sketch] of Array.from(peers)) yield { kind: BEACON_ENTRIES.peer, key, bytes: writeSketch(sketch) };
      for (const [key, pair] of Array.from(pairs)) yield { kind: BEACON_ENTRIES.pair, key, bytes: writePair(pair) };
    },
    counts: () => ({ pairs: pairs.size, evicted }),
  };
}

/** What a peer's being common takes off. */
function lossOf(users: number, devices: number): number {
  const share = users <= 1 ? 0 : users / Math.max(1, devices);
  return COMMON_LOSS * Math.min(1, Math.max(0, (share - RARE_SHARE) / (COMMON_SHARE - RARE_SHARE)));
}

/** Whether the device did the same to another peer until this one began: a service that moved to another address. */
function hasPredecessor(pairs: Iterable<Pair>, pair: Pair, intervalSeconds: number): boolean {
  const { firstAt } = pair.history;
  for (const { device, history } of pairs) {
    if (device !== pair.device || history === pair.history || history.firstAt >= firstAt) continue;
    if (Math.abs(history.lastAt - firstAt) > HANDOVER_INTERVALS * intervalSeconds) continue;
    if (differenceOf(history, pair.history) <= ALIKE_WITHIN) return true;
  }
  return false;
}

/** The pair, or a new one in its place where the clock was set back: what goes on since the device's first days stays known. */
function begunAnew(pair: Pair | null, at: number, deviceSince: number): Pair | null {
  if (!pair || at >= pair.history.lastAt - MAX_STEP_BACK_SECONDS) return pair;
  const isOld = pair.history.firstAt < deviceSince + LEARNING_SECONDS;
  return { device: pair.device, history: createPairHistory(), nextScoreAt: 0, isSettled: pair.isSettled || isOld };
}

/** Linear counting: from how many bits are still 0. */
function usersOf(sketch: Uint32Array): number {
  let empty = SKETCH_BITS;
  for (const word of sketch) for (let rest = word; rest !== 0; rest = (rest & (rest - 1)) >>> 0) empty -= 1;
  return Math.round(-SKETCH_BITS * Math.log(Math.max(0.5, empty) / SKETCH_BITS));
}

/** Keeps a value as the latest. @returns Whether the oldest gave way for it. */
function keep<T>(map: Map<string, T>, key: string, value: T, max: number): boolean {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return false;
  map.delete(map.keys().next().value ?? "");
  return true;
}
