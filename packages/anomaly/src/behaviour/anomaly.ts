import type { BeaconFinding } from "../beacon/watch.ts";
import { BUCKET_SECONDS, type Device, RECENT_BUCKETS, rowOf } from "./devices/device.ts";
import type { Clue } from "./comparing/evidence.ts";
import { FEATURES, featuresOf, PLACE, unscale } from "./features.ts";
import { expectAt, RANGE_UNITS } from "./profile.ts";
import type { UnusualSeries } from "./site-series.ts";

/** What an anomaly looks most like. */
export type AnomalyKind = "exfiltration" | "scan" | "admin_protocol" | "new_region" | "unusual_hour" | "beacon" | "unusual_amount";

/** MITRE ATT&CK's number, where the pattern names one. */
const TECHNIQUES: Readonly<Record<AnomalyKind, string | null>> = {
  exfiltration: "T1048", scan: "T1046", admin_protocol: "T1021", new_region: null, unusual_hour: null, beacon: "T1071", unusual_amount: null,
};

/** One thing that was unusual, in its own unit: bytes, a number, a share. */
export interface WeightyFeature {
  readonly name: Clue["what"] | "beacon";
  /** Of the whole evidence: 0 to 1. */
  readonly share: number;
  readonly observed: number;
  readonly expectedLow: number;
  readonly expectedHigh: number;
  /** At this hour of such a day. */
  readonly usual: number;
}

/** Something unusual, with all that explains it. */
export interface Anomaly {
  /** The device's key; "" for the site as a whole. */
  readonly device: string;
  readonly kind: AnomalyKind;
  readonly technique: string | null;
  /** From the alert's threshold on, without an end. */
  readonly score: number;
  /** Seconds of packet time. */
  readonly at: number;
  readonly since: number;
  /** The three that weigh most. */
  readonly features: readonly WeightyFeature[];
  /** Peers that it has to do with, four at most. */
  readonly peers: readonly string[];
  /** What was met for the first time. */
  readonly news: readonly string[];
  /** Like devices that it was compared with. */
  readonly group: string;
  /** The first feature's values of the last three hours; the last one ends at `at`. */
  readonly series: { readonly bucketSeconds: number; readonly values: readonly number[] };
  /** What was unusual of the site as a whole in that hour, the most unusual first: an update, an outage, a holiday. */
  readonly siteSeries: readonly UnusualSeries[];
  /** False for one beyond the day's budget: it is to be kept, not sent. */
  readonly isWithinBudget: boolean;
}

/** By the device alone: before it is known what else was unusual, and whether the budget has one for it. */
export type Explained = Omit<Anomaly, "isWithinBudget" | "siteSeries">;

const MAX_PEERS = 4;
const MAX_FEATURES = 3;

/** Explains the clues of an hour. */
export function explain(device: Device, clues: readonly Clue[], hour: { readonly at: number; readonly slot: number; readonly score: number }): Explained {
  const sorted = clues.toSorted((a, b) => b.surprise - a.surprise);
  const sum = sorted.reduce((total, { surprise }) => total + surprise, 0);
  const values = featuresOf(device.closed.counts);
  const features = sorted.slice(0, MAX_FEATURES).map((clue): WeightyFeature => {
    const share = clue.surprise / sum;
    if (clue.what === "new_region" || clue.what === "new_admin_peer") return { name: clue.what, share, observed: 1, expectedLow: 0, expectedHigh: 0, usual: 0 };
    const place = PLACE[clue.what];
    const { usual, around, unit } = expectAt(device.profile, hour.slot, place);
    return {
      name: clue.what, share, observed: values[place] ?? 0, usual: unscale(place, usual),
      expectedLow: unscale(place, usual - RANGE_UNITS * unit), expectedHigh: unscale(place, around + RANGE_UNITS * unit),
    };
  });
  const kind = kindOf(sorted);
  const news = [...new Set(sorted.flatMap((clue) => (clue.news ? [clue.news.what] : [])))];
  const ofNews = sorted.flatMap((clue) => (clue.news ? [clue.news.peer] : []));
  const mostSent = [...device.closed.sentTo].toSorted((a, b) => b[1] - a[1]).map(([peer]) => peer);
  return {
    device: device.key, kind, technique: TECHNIQUES[kind], score: hour.score, at: hour.at, since: device.openSince, features, news, group: device.group,
    peers: [...new Set([...ofNews, ...mostSent])].slice(0, MAX_PEERS), series: seriesOf(device, features[0]?.name ?? "flows", hour.at),
  };
}

/** Explains a beacon. */
export function explainBeacon(device: Device, finding: BeaconFinding, at: number): Explained {
  return {
    device: device.key, kind: "beacon", technique: TECHNIQUES.beacon, score: 10 * finding.adjusted, at, since: finding.firstAt, peers: [finding.peer], news: [], group: device.group,
    features: [{ name: "beacon", share: 1, observed: finding.adjusted, expectedLow: 0, expectedHigh: 0, usual: 0 }], series: seriesOf(device, "flows", at),
  };
}

function kindOf(sorted: readonly Clue[]): AnomalyKind {
  const [first] = sorted;
  if (!first) return "unusual_amount";
  if (first.what === "new_admin_peer") return "admin_protocol";
  if (first.what === "new_region") return "new_region";
  if (first.isOfHour) return "unusual_hour";
  if (first.what === "bytes_outside" || first.what === "bytes_to_rare") return "exfiltration";
  return sorted.some(({ what }) => what === "fan_out" || what === "ports") ? "scan" : "unusual_amount";
}

function seriesOf(device: Device, name: WeightyFeature["name"], at: number): Anomaly["series"] {
  const last = Math.floor(at / BUCKET_SECONDS) - 1;
  const place = FEATURES.findIndex((feature) => feature === name);
  const values = Array.from({ length: RECENT_BUCKETS }, (_, index) => {
    const row = featuresOf(rowOf(device.recent, last - RECENT_BUCKETS + 1 + index));
    return row[place < 0 ? PLACE.flows : place] ?? 0;
  });
  return { bucketSeconds: BUCKET_SECONDS, values };
}
