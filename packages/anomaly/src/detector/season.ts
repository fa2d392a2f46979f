/** A quarter of an hour of the day in each place. */
const DAY_SLOTS = 96;
const DAY_SECONDS = 86_400;
/** An hour of the week in each place. */
const WEEK_SLOTS = 168;
const WEEK_SECONDS = 604_800;
const SLOTS = DAY_SLOTS + WEEK_SLOTS;
/** How often a slot was seen is of interest only at first. */
const MAX_SEEN = 255;

/** Bytes that `writeSeason` fills: a 32-bit float and a count of one byte for each slot. */
export const SEASON_BYTES = SLOTS * 5;

/** What was usual at each quarter of an hour of the day and at each hour of the week, and how often that slot was seen. */
export interface Season {
  readonly usual: Float32Array;
  readonly seen: Uint8Array;
}

/** A season of which nothing is known yet. */
export function createSeason(): Season {
  return { usual: new Float32Array(SLOTS), seen: new Uint8Array(SLOTS) };
}

/**
 * What is usual at an instant: of the time of day and the hour of the week, the one that is closer to `value`, because some series have
 * weekends and others have none.
 * @param at Seconds; any finite number.
 * @returns `null` until this quarter of an hour has been seen on some day.
 */
export function usualAt(season: Season, at: number, value: number): number | null {
  const day = daySlot(at);
  if (season.seen[day] === 0) return null;
  const byDay = season.usual[day] ?? 0;
  const week = weekSlot(at);
  if (season.seen[week] === 0) return byDay;
  const byWeek = season.usual[week] ?? 0;
  return Math.abs(value - byWeek) < Math.abs(value - byDay) ? byWeek : byDay;
}

/** Moves both slots of an instant towards the value, by at least `rate` of the way. */
export function learnSeason(season: Season, at: number, value: number, rate: number): void {
  for (const slot of [daySlot(at), weekSlot(at)]) {
    const seen = season.seen[slot] ?? 0;
    const usual = season.usual[slot] ?? 0;
    season.usual[slot] = usual + Math.max(rate, 1 / (seen + 1)) * (value - usual);
    season.seen[slot] = Math.min(MAX_SEEN, seen + 1);
  }
}

/** Writes the season into `SEASON_BYTES` bytes from `offset`, little-endian. */
export function writeSeason(season: Season, view: DataView, offset: number): void {
  for (let slot = 0; slot < SLOTS; slot += 1) {
    view.setFloat32(offset + slot * 4, season.usual[slot] ?? 0, true);
    view.setUint8(offset + SLOTS * 4 + slot, season.seen[slot] ?? 0);
  }
}

/** Reads what `writeSeason` wrote; `null` where a number is not finite. */
export function readSeason(view: DataView, offset: number): Season | null {
  const season = createSeason();
  for (let slot = 0; slot < SLOTS; slot += 1) {
    season.usual[slot] = view.getFloat32(offset + slot * 4, true);
    season.seen[slot] = view.getUint8(offset + SLOTS * 4 + slot);
  }
  return season.usual.every(Number.isFinite) ? season : null;
}

function daySlot(at: number): number {
  return Math.floor((wrap(at, DAY_SECONDS) / DAY_SECONDS) * DAY_SLOTS);
}

function weekSlot(at: number): number {
  return DAY_SLOTS + Math.floor((wrap(at, WEEK_SECONDS) / WEEK_SECONDS) * WEEK_SLOTS);
}

/** Instants before 1970 have their time of day too. */
function wrap(at: number, period: number): number {
  return ((at % period) + period) % period;
}
