/** What is counted of a device or of the site, in the order in which it is kept and saved. */
export const FEATURES = [
  "bytes_out", "bytes_in", "packets", "flows", "failed_flows", "peers", "ports", "names", "new_peers", "new_ports", "dns_queries", "nxdomain_share",
  "fan_out", "east_west_share", "bytes_outside", "bytes_to_rare", "presence", "broadcasts",
] as const;
/** One of `FEATURES`. */
export type Feature = (typeof FEATURES)[number];

/** Features of which only the largest counts, because they rise together. */
export type Family = "volume" | "reach" | "failure" | "names" | "broadcasts";

/** How a feature is compared. */
export interface FeatureRule {
  /** Amounts are compared by their logarithm, shares as they are. */
  readonly scale: "log" | "share";
  /** Less than this is as good as nothing. */
  readonly noise: number;
  /** The least step that is not noise: 0.4 of a logarithm is half as much again. */
  readonly unit: number;
  /** How much a step beyond everything before weighs; 0 for what is shown only. */
  readonly weight: number;
  /** How much a step weighs at an hour at which no like device did so. */
  readonly hourWeight: number;
  readonly family: Family;
  /** Whether many devices that do so in the same hour have one common, ordinary cause. */
  readonly isDiscounted: boolean;
}

const amount = { scale: "log", noise: 1, unit: 0.4, weight: 0, hourWeight: 0, family: "volume", isDiscounted: true } as const;

/** Bytes inside the site and bytes in weigh nothing by themselves: backups and updates are larger than any theft. */
export const RULES: Readonly<Record<Feature, FeatureRule>> = {
  bytes_out: { ...amount, noise: 1e4, unit: 0.7 },
  bytes_in: { ...amount, noise: 1e4, unit: 0.7 },
  packets: { ...amount, unit: 0.7 },
  flows: { ...amount, weight: 0.5, hourWeight: 1 },
  failed_flows: { ...amount, weight: 0.8, family: "failure" },
  peers: { ...amount, weight: 0.5, hourWeight: 1, family: "reach" },
  ports: { ...amount, weight: 1, family: "reach" },
  names: { ...amount, weight: 0.3, hourWeight: 1, family: "names" },
  new_peers: { ...amount, weight: 0.5, family: "reach" },
  new_ports: { ...amount, weight: 0.8, family: "reach" },
  dns_queries: { ...amount, weight: 0.5, family: "names" },
  nxdomain_share: { ...amount, scale: "share", unit: 0.1, weight: 0.6, family: "failure" },
  fan_out: { ...amount, weight: 1, family: "reach", isDiscounted: false },
  east_west_share: { ...amount, scale: "share", unit: 0.2 },
  bytes_outside: { ...amount, noise: 1e6, unit: 0.7, weight: 0.7 },
  bytes_to_rare: { ...amount, noise: 1e6, unit: 0.7, weight: 1.5 },
  presence: { ...amount, unit: 0.4 },
  broadcasts: { ...amount, noise: 5, weight: 0.5, hourWeight: 1, family: "broadcasts" },
};

/** Where each feature stands in what is kept. */
export const PLACE = Object.fromEntries(FEATURES.map((feature, index) => [feature, index])) as Readonly<Record<Feature, number>>;
/** The rules in the order of `FEATURES`. */
export const RULE_LIST: readonly FeatureRule[] = FEATURES.map((feature) => RULES[feature]);

/** Few names or bytes make no share. */
const MIN_QUERIES = 10;
const MIN_BYTES = 10_000;

/**
 * The features of an hour or bucket, as they are compared.
 * @param counts In the order of `FEATURES`; of the two shares what they are of: names that do not exist, and bytes inside the site.
 */
export function scaleCounts(counts: ArrayLike<number>): Float64Array {
  return featuresOf(counts).map((value, index) => {
    const rule = RULE_LIST[index];
    return rule?.scale === "log" ? Math.log1p(value / rule.noise) : value;
  });
}

/** The features of an hour or bucket, as people read them. */
export function featuresOf(counts: ArrayLike<number>): Float64Array {
  const values = Float64Array.from(counts);
  const count = (feature: Feature) => counts[PLACE[feature]] ?? 0;
  values[PLACE.nxdomain_share] = count("nxdomain_share") / (count("dns_queries") + MIN_QUERIES);
  values[PLACE.east_west_share] = count("east_west_share") / (count("bytes_in") + count("bytes_out") + MIN_BYTES);
  return values;
}

/** The other way: from what is compared to what people read; never below 0. */
export function unscale(place: number, scaled: number): number {
  const rule = RULE_LIST[place];
  return Math.max(0, rule?.scale === "log" ? Math.expm1(scaled) * rule.noise : scaled);
}
