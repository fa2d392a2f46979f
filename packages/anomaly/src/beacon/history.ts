/** The last connections of a pair whose times and sizes are compared. */
const MAX_RECENT = 64;
/** Hours of a week, each with how many connections began in it. */
const HOURS = 168;
const HOUR_SECONDS = 3600;
const MAX_COUNT = 65_535;

/** What is remembered of the connections between two hosts: 0.9 KB, however many there were. */
export interface PairHistory {
  readonly recentAt: Float64Array;
  readonly recentBytes: Float32Array;
  readonly hourCounts: Uint16Array;
  /** Connections so far. */
  count: number;
  firstAt: number;
  lastAt: number;
}

/** A pair of which no connection was seen. */
export function createPairHistory(): PairHistory {
  return {
    recentAt: new Float64Array(MAX_RECENT), recentBytes: new Float32Array(MAX_RECENT), hourCounts: new Uint16Array(HOURS),
    count: 0, firstAt: 0, lastAt: 0,
  };
}

/** Adds a connection. One that is earlier than the last is left out: a clock that was set back would give intervals of nonsense. */
export function addConnection(pair: PairHistory, at: number, bytes: number): void {
  if (pair.count > 0 && at < pair.lastAt) return;
  if (pair.count === 0) pair.firstAt = at;
  const hour = Math.floor(at / HOUR_SECONDS);
  const lastHour = pair.count === 0 ? hour - 1 : Math.floor(pair.lastAt / HOUR_SECONDS);
  for (let passed = Math.max(lastHour + 1, hour - HOURS + 1); passed <= hour; passed += 1) pair.hourCounts[passed % HOURS] = 0;
  pair.hourCounts[hour % HOURS] = Math.min(MAX_COUNT, (pair.hourCounts[hour % HOURS] ?? 0) + 1);
  pair.recentAt[pair.count % MAX_RECENT] = at;
  pair.recentBytes[pair.count % MAX_RECENT] = bytes;
  pair.count += 1;
  pair.lastAt = at;
}

/** Seconds between one connection and the next, and bytes of each, oldest first; at most 64 connections. */
export function recentOf(pair: PairHistory): { readonly intervals: number[]; readonly sizes: number[] } {
  const kept = Math.min(pair.count, MAX_RECENT);
  const intervals: number[] = [];
  const sizes: number[] = [];
  for (let index = pair.count - kept; index < pair.count; index += 1) {
    sizes.push(pair.recentBytes[index % MAX_RECENT] ?? 0);
    if (index > pair.count - kept) intervals.push((pair.recentAt[index % MAX_RECENT] ?? 0) - (pair.recentAt[(index - 1) % MAX_RECENT] ?? 0));
  }
  return { intervals, sizes };
}

/**
 * Connections in each bar of time from the first of them (a week ago at most) to the last. The last bar, which is not over, is left out
 * where there are others.
 * @param barHours Width of a bar in hours.
 */
export function barsOf(pair: PairHistory, barHours: number): number[] {
  const last = Math.floor(pair.lastAt / HOUR_SECONDS);
  const first = Math.max(Math.floor(pair.firstAt / HOUR_SECONDS), last - HOURS + 1);
  const bars: number[] = [];
  for (let hour = first; hour <= last; hour += 1) {
    const bar = Math.floor((hour - first) / barHours);
    bars[bar] = (bars[bar] ?? 0) + (pair.hourCounts[hour % HOURS] ?? 0);
  }
  return bars.length > 1 ? bars.slice(0, -1) : bars;
}
