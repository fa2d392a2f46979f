import { hashBytes } from "../fnv.ts";
import { createSeason, readSeason, type Season, SEASON_BYTES, writeSeason } from "./season.ts";

/** Everything that is remembered of one series but its season, in the order in which it is saved. */
const NUMBERS = [
  "count", "level", "variance", "low", "high", "shortMean", "longMean", "shiftSquare", "previous", "jumpSquare",
  "shortSquare", "spread", "spreadVariance", "seasonCount", "seasonSquare", "peak", "lead", "leadSquare", "startedAt",
] as const;

/** What is remembered of one series; its size does not depend on how many values there were. */
export type Memory = Record<(typeof NUMBERS)[number], number> & { season: Season };

/** Goes up whenever the bytes or the meaning of a number change: state of another version is learned anew. */
const VERSION = 2;
const HEADER_BYTES = 8;
const STATE_BYTES = HEADER_BYTES + NUMBERS.length * 8 + SEASON_BYTES;

/** The memory of a series of which nothing was seen yet. */
export function createMemory(): Memory {
  return {
    count: 0, level: 0, variance: 0, low: 0, high: 0, shortMean: 0, longMean: 0, shiftSquare: 0, previous: 0, jumpSquare: 0,
    shortSquare: 0, spread: 0, spreadVariance: 0, seasonCount: 0, seasonSquare: 0, peak: 0, lead: 0, leadSquare: 0, startedAt: 0,
    season: createSeason(),
  };
}

/** The memory as bytes of its own: version, checksum, numbers, season; little-endian. */
export function writeMemory(memory: Memory): Uint8Array {
  const bytes = new Uint8Array(STATE_BYTES);
  const view = new DataView(bytes.buffer);
  NUMBERS.forEach((name, index) => view.setFloat64(HEADER_BYTES + index * 8, memory[name], true));
  writeSeason(memory.season, view, HEADER_BYTES + NUMBERS.length * 8);
  view.setUint32(0, VERSION, true);
  view.setUint32(4, hashBytes(bytes.subarray(HEADER_BYTES)), true);
  return bytes;
}

/** Reads what `writeMemory` wrote; `null` for bytes of another version or length, and for damaged ones. */
export function readMemory(bytes: Uint8Array): Memory | null {
  if (bytes.length !== STATE_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== VERSION || view.getUint32(4, true) !== hashBytes(bytes.subarray(HEADER_BYTES))) return null;
  const season = readSeason(view, HEADER_BYTES + NUMBERS.length * 8);
  if (season === null) return null;
  const memory = { ...createMemory(), season };
  NUMBERS.forEach((name, index) => {
    memory[name] = view.getFloat64(HEADER_BYTES + index * 8, true);
  });
  return NUMBERS.every((name) => Number.isFinite(memory[name])) ? memory : null;
}
