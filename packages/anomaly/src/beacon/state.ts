/** What is saved of pairs of hosts, of the devices that they begin at, and of how many devices use a peer. */
import { openSealed, seal } from "../sealed.ts";
import { createPairHistory, type PairHistory } from "./history.ts";

/** What an entry is of. */
export const BEACON_ENTRIES = { pair: "pair", device: "beacon_device", peer: "beacon_peer" } as const;

/** A pair, and what is known of it beside its connections. */
export interface SavedPair {
  readonly history: PairHistory;
  readonly isSettled: boolean;
}

const NUMBERS = ["count", "firstAt", "lastAt"] as const;

/** A pair as it is kept. */
export function writePair({ history, isSettled }: SavedPair): Uint8Array {
  return seal([Float64Array.from([...NUMBERS.map((name) => history[name]), isSettled ? 1 : 0]), history.recentAt, history.recentBytes, history.hourCounts]);
}

/** @returns `null` for bytes that are damaged or of another version. */
export function readPair(bytes: Uint8Array): SavedPair | null {
  const reader = openSealed(bytes);
  const numbers = reader?.take(Float64Array, NUMBERS.length + 1);
  if (!reader || !numbers?.every(Number.isFinite)) return null;
  const empty = createPairHistory();
  const recentAt = reader.take(Float64Array, empty.recentAt.length);
  const recentBytes = reader.take(Float32Array, empty.recentBytes.length);
  const hourCounts = reader.take(Uint16Array, empty.hourCounts.length);
  const [count = 0, firstAt = 0, lastAt = 0, settled = 0] = numbers;
  if (!recentAt?.every(Number.isFinite) || !recentBytes?.every(Number.isFinite) || !hourCounts || !reader.isAtEnd()) return null;
  return { history: { recentAt, recentBytes, hourCounts, count, firstAt, lastAt }, isSettled: settled === 1 };
}

/** Since when a device is known. */
export function writeSince(at: number): Uint8Array {
  return seal([Float64Array.of(at)]);
}

/** @returns `null` for bytes that are damaged or of another version. */
export function readSince(bytes: Uint8Array): number | null {
  const [at = Number.NaN] = openSealed(bytes)?.take(Float64Array, 1) ?? [];
  return Number.isFinite(at) ? at : null;
}

/** Who uses a peer. */
export function writeSketch(words: Uint32Array): Uint8Array {
  return seal([words]);
}

/** @returns `null` for bytes that are damaged or of another version. */
export function readSketch(bytes: Uint8Array, length: number): Uint32Array | null {
  return openSealed(bytes)?.take(Uint32Array, length) ?? null;
}
