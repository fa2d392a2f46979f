import { createDetector, type Detector, restoreDetector } from "../detector/detector.ts";
import { SHIPPED_THRESHOLD } from "../detector/evidence.ts";
import type { SavedEntry } from "../sealed.ts";
import { BUCKET_SECONDS, type Device, rowOf } from "./devices/device.ts";
import { type Feature, featuresOf, PLACE, scaleCounts } from "./features.ts";

/** What an entry is of: one of the site's series. */
const SERIES_ENTRY = "series";
const BUCKETS_AN_HOUR = 3600 / BUCKET_SECONDS;
/** Before a week was learned, hours of the week are unknown. */
const MIN_HOURS = 168;

/** Those that tell an update or an outage of the whole site from what one device does. */
const SITE_SERIES = ["bytes_out", "bytes_in", "bytes_outside", "flows", "failed_flows", "peers", "names", "dns_queries", "nxdomain_share"] as const satisfies readonly Feature[];

/** A series of the whole site that was unusual in an hour. */
export interface UnusualSeries {
  readonly name: Feature;
  /** The detector's, from its threshold to below 1. */
  readonly score: number;
  /** The value of five minutes that was the most unusual, in its own unit. */
  readonly observed: number;
  /** When these five minutes ended, in seconds of packet time. */
  readonly at: number;
}

/** Follows the site as a whole, five minutes at a time. It raises nothing by itself: it is what else was unusual when a device was. */
export interface SiteSeries {
  /** Takes an hour that was seen as a whole. @param at Its end. */
  readonly learnHour: (site: Device, at: number) => void;
  /** Forgets what was unusual: the hour is not to be trusted. */
  readonly skipHour: () => void;
  /** What was unusual in the last hour, the most unusual first. */
  readonly unusual: () => readonly UnusualSeries[];
  readonly clear: () => void;
  readonly save: () => Iterable<SavedEntry>;
  /** @returns Whether it could be read; null for an entry of something else. */
  readonly restore: (entry: SavedEntry) => boolean | null;
}

/** One in which nothing was seen. */
export function createSiteSeries(): SiteSeries {
  const detectors = new Map<string, Detector>();
  let unusual: readonly UnusualSeries[] = [];
  const detectorOf = (name: string) => {
    const detector = detectors.get(name) ?? createDetector();
    detectors.set(name, detector);
    return detector;
  };

  function learnSeries(name: Feature, rows: readonly { readonly counts: Float32Array; readonly at: number }[]): UnusualSeries {
    const detector = detectorOf(name);
    let most: UnusualSeries = { name, score: 0, observed: 0, at: 0 };
    for (const { counts, at } of rows) {
      const { score } = detector.observe(at, scaleCounts(counts)[PLACE[name]] ?? 0);
      if (score > most.score) most = { name, score, observed: featuresOf(counts)[PLACE[name]] ?? 0, at };
    }
    return most;
  }

  return {
    learnHour(site, end) {
      const first = Math.floor(end / BUCKET_SECONDS) - BUCKETS_AN_HOUR;
      const rows = Array.from({ length: BUCKETS_AN_HOUR }, (_, index) => ({ counts: rowOf(site.recent, first + index), at: (first + index + 1) * BUCKET_SECONDS }));
      const found = SITE_SERIES.map((name) => learnSeries(name, rows)).filter(({ score }) => score >= SHIPPED_THRESHOLD);
      unusual = site.hours < MIN_HOURS ? [] : found.toSorted((a, b) => b.score - a.score);
    },
    skipHour() {
      unusual = [];
    },
    unusual: () => unusual,
    clear() {
      detectors.clear();
      unusual = [];
    },
    *save() {
      for (const [key, detector] of detectors) yield { kind: SERIES_ENTRY, key, bytes: detector.save() };
    },
    restore({ kind, key, bytes }) {
      if (kind !== SERIES_ENTRY) return null;
      const detector = SITE_SERIES.some((name) => name === key) ? restoreDetector(bytes) : null;
      if (detector) detectors.set(key, detector);
      return detector !== null;
    },
  };
}
