import type { Memory } from "./memory.ts";
import { usualAt } from "./season.ts";

/** How far a value is from what was usual, each in its own unit of what is ordinary; 0 where nothing is unusual. */
export interface Evidence {
  /** Beyond the highest or below the lowest so far, as a share of the range: 0 to 1. */
  readonly range: number;
  /** From the level, in standard deviations. */
  readonly level: number;
  /** Between the mean of late and the longer one, in usual differences of them. */
  readonly shift: number;
  /**
   * Between the steepness of late and the usual one, in usual differences of them: a series that always grows is usual, and one that grows
   * several times as fast is not. On a slope the short mean leads the longer one by as many values as their lags differ.
   */
  readonly trend: number;
  /** From what is usual at this time of day or hour of week, in usual differences. */
  readonly season: number;
  /** From the value before, in usual steps. */
  readonly jump: number;
  /** Livelier than usual, in standard deviations of the logarithm of the spread. */
  readonly lively: number;
  /** Calmer than usual, in the same unit. */
  readonly calm: number;
}

/** What the scores of one corpus of series were best split by; see the README. */
export const SHIPPED_THRESHOLD = 0.357;

/** How much a unit of each evidence weighs; found by search over NAB's files as the README says. */
const WEIGHTS: Evidence = { range: 22.4, level: 0.018, shift: 0.47, trend: 0.6, season: 0.228, jump: 0.0187, lively: 0.828, calm: 0.229 };
/** Evidence below this many units says nothing. Range counts from its tolerance. */
const ORDINARY_UNITS = 1.26;
const RANGE_TOLERANCE = 0.054;
/** Share of the range that is taken for noise wherever a spread is divided by, so that a flat series does not alarm at each ripple. */
const NOISE_SHARE = 0.0322;
const SPREAD_SLACK = 0.3;
/** A season counts where its usual error (squared) is at most this much of the variance about the level. */
const SEASON_GAIN = 1.13;
/** A season is compared with once a second day has shown how far one is from the day before it: on a slope, a day's growth. */
const MIN_SEASON_SECONDS = 2 * 86_400;

/** The short mean follows over some 50 values, the longer one over some 400. */
const SHORT_RATE = 0.0189;
const LONG_RATE = 0.00252;

/** Units of what is ordinary, from what is remembered; never 0. */
export function scalesOf(memory: Memory) {
  const tiny = 1e-9 * Math.abs(memory.level) + 1e-12;
  const range = Math.max(memory.high - memory.low, tiny);
  const noise = NOISE_SHARE * range + 1e-12;
  return {
    range,
    noise,
    level: Math.sqrt(memory.variance) + noise + tiny,
    shift: Math.sqrt(memory.shiftSquare) + noise / 2,
    // A slope is no noise, though it makes the range wide: steps from value to value say what is.
    trend: Math.sqrt(memory.leadSquare) + Math.sqrt(memory.jumpSquare) + noise / 8 + tiny,
    jump: Math.sqrt(memory.jumpSquare) + noise,
    season: Math.sqrt(memory.seasonSquare) + noise,
  };
}

/** The rate of a mean that is an ordinary average until `1 / rate` values were seen. */
export function rateAt(count: number, rate: number): number {
  return Math.max(rate, 1 / count);
}

/** The means and the spread as they are once the value counts. `memory.count` includes the value already. */
export function stepMeans(memory: Memory, value: number) {
  const short = rateAt(memory.count, SHORT_RATE);
  const noise = NOISE_SHARE * Math.max(memory.high - memory.low, 1e-9 * Math.abs(memory.level) + 1e-12);
  const shortSquare = memory.shortSquare + short * ((value - memory.shortMean) ** 2 - memory.shortSquare);
  return {
    shortMean: memory.shortMean + short * (value - memory.shortMean),
    longMean: memory.longMean + rateAt(memory.count, LONG_RATE) * (value - memory.longMean),
    shortSquare,
    logSpread: Math.log(shortSquare + 0.1 * noise ** 2 + 1e-18),
  };
}

/** Compares a value with what is remembered of the values before it. */
export function weighEvidence(memory: Memory, at: number, value: number, means: ReturnType<typeof stepMeans>): Evidence {
  const scales = scalesOf(memory);
  const beyond = Math.max(value - memory.high, memory.low - value) / scales.range;
  const usual = usualAt(memory.season, at, value);
  const seasonal = usual !== null && at - memory.startedAt >= MIN_SEASON_SECONDS && memory.seasonSquare < SEASON_GAIN * memory.variance;
  const spread = (means.logSpread - memory.spread) / (Math.sqrt(memory.spreadVariance) + SPREAD_SLACK);
  return {
    range: beyond > RANGE_TOLERANCE ? Math.min(1, beyond) : 0,
    level: Math.abs(value - memory.level) / scales.level,
    shift: Math.abs(means.shortMean - means.longMean) / scales.shift,
    trend: Math.abs(means.shortMean - means.longMean - memory.lead) / scales.trend,
    season: seasonal ? Math.abs(value - usual) / scales.season : 0,
    jump: Math.abs(value - memory.previous) / scales.jump,
    lively: Math.max(0, spread),
    calm: Math.max(0, -spread),
  };
}

/** All evidence as one figure from 0 up: what each weighs beyond the ordinary, summed, as a logarithm. */
export function surpriseOf(evidence: Evidence): number {
  const weigh = (name: keyof Evidence) => WEIGHTS[name] * Math.max(0, evidence[name] - ORDINARY_UNITS);
  const units = weigh("level") + weigh("shift") + weigh("trend") + weigh("season") + weigh("jump") + weigh("lively") + weigh("calm");
  return Math.log1p(WEIGHTS.range * evidence.range + units);
}
