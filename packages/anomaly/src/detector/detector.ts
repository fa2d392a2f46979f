import { type Evidence, rateAt, scalesOf, stepMeans, surpriseOf, weighEvidence } from "./evidence.ts";
import { createMemory, type Memory, readMemory, writeMemory } from "./memory.ts";
import { learnSeason, usualAt } from "./season.ts";

/** Values that a series is given to learn from before it says anything. */
const MIN_VALUES = 26;
/** Of the spread nothing is known while the short mean itself still settles. */
const MIN_VALUES_OF_SPREAD = 11;
const LEVEL_RATE = 0.00225;
/** The usual slope is that of some 2,000 values: a week of five-minute ones. */
const TREND_RATE = 0.0005;
const SEASON_RATE = 0.433;
const SEASON_ERROR_RATE = 0.002;
/** A value counts as no farther off than this many units when the spread is learned: one outlier must not hide the next. */
const MAX_LEARNED_UNITS = 8;
/** What was said once is not said again: a score counts from this share of the highest surprise of late, which fades over so many values. */
const SILENCE_SHARE = 0.366;
const SILENCE_VALUES = 492;
/** Surprise beyond the silence that gives a score of 63 %. */
const SURPRISE_SCALE = 1.5;

/** What the detector says to one value. */
export interface Reading {
  /** 0 (usual) to below 1. */
  readonly score: number;
  readonly evidence: Evidence;
}

/** Learns one series, in constant memory. */
export interface Detector {
  /**
   * Scores a value by those before it, then learns it. A value or instant that is not finite is neither scored nor learned.
   * @param at Seconds of the series' own clock; may repeat and go back.
   */
  readonly observe: (at: number, value: number) => Reading;
  /** All that is remembered, as bytes that `restoreDetector` reads; always of the same length. */
  readonly save: () => Uint8Array;
}

const NO_EVIDENCE: Evidence = { range: 0, level: 0, shift: 0, trend: 0, season: 0, jump: 0, lively: 0, calm: 0 };

/** A detector that has seen nothing. */
export function createDetector(): Detector {
  return detectorOf(createMemory());
}

/**
 * A detector that goes on where another was saved, with the same scores to the last digit.
 * @returns `null` for bytes that are damaged or of another version: the series is then to be learned anew.
 */
export function restoreDetector(bytes: Uint8Array): Detector | null {
  const memory = readMemory(bytes);
  return memory && detectorOf(memory);
}

function detectorOf(memory: Memory): Detector {
  return {
    observe: (at, value) => {
      if (!Number.isFinite(at) || !Number.isFinite(value)) return { score: 0, evidence: NO_EVIDENCE };
      memory.count += 1;
      if (memory.count === 1) begin(memory, at, value);
      const means = stepMeans(memory, value);
      const evidence = weighEvidence(memory, at, value, means);
      const surprise = memory.count < MIN_VALUES ? 0 : surpriseOf(evidence);
      const beyondSilence = surprise - SILENCE_SHARE * memory.peak;
      memory.peak = Math.max(memory.peak * (1 - 1 / SILENCE_VALUES), surprise);
      learn(memory, at, value, means);
      return { score: beyondSilence > 0 ? 1 - Math.exp(-beyondSilence / SURPRISE_SCALE) : 0, evidence };
    },
    save: () => writeMemory(memory),
  };
}

function begin(memory: Memory, at: number, value: number): void {
  memory.startedAt = at;
  memory.level = value;
  memory.low = value;
  memory.high = value;
  memory.shortMean = value;
  memory.longMean = value;
  memory.previous = value;
}

function learn(memory: Memory, at: number, value: number, means: ReturnType<typeof stepMeans>): void {
  const rate = rateAt(memory.count, LEVEL_RATE);
  const scales = scalesOf(memory);
  const damp = (difference: number, unit: number) => Math.max(-MAX_LEARNED_UNITS * unit, Math.min(MAX_LEARNED_UNITS * unit, difference));

  const usual = usualAt(memory.season, at, value);
  if (usual !== null) {
    memory.seasonCount += 1;
    const error = damp(value - usual, scales.season);
    memory.seasonSquare += rateAt(memory.seasonCount, SEASON_ERROR_RATE) * (error ** 2 - memory.seasonSquare);
  }
  learnSeason(memory.season, at, value, SEASON_RATE);

  memory.shiftSquare += rate * (damp(means.shortMean - means.longMean, scales.shift) ** 2 - memory.shiftSquare);
  const fromLead = damp(means.shortMean - means.longMean - memory.lead, scales.trend);
  memory.lead += rateAt(memory.count, TREND_RATE) * fromLead;
  memory.leadSquare += rateAt(memory.count, TREND_RATE) * (fromLead ** 2 - memory.leadSquare);
  memory.jumpSquare += rate * (damp(value - memory.previous, scales.jump) ** 2 - memory.jumpSquare);
  const fromLevel = memory.count < MIN_VALUES ? value - memory.level : damp(value - memory.level, scales.level);
  memory.level += rate * fromLevel;
  memory.variance = (1 - rate) * (memory.variance + rate * fromLevel ** 2);
  if (memory.count >= MIN_VALUES_OF_SPREAD) {
    const change = means.logSpread - memory.spread;
    memory.spread += rate * change;
    memory.spreadVariance += rate * (change ** 2 - memory.spreadVariance);
  }
  memory.low = Math.min(memory.low, value);
  memory.high = Math.max(memory.high, value);
  memory.shortMean = means.shortMean;
  memory.longMean = means.longMean;
  memory.shortSquare = means.shortSquare;
  memory.previous = value;
}
