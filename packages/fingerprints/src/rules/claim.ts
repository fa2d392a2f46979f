/** What can be said of a service or of the device that it runs on. */
export const CLAIM_FIELDS = [
  "product", "vendor", "version", "cpe", "os", "os_version", "os_cpe", "device_type", "model", "hostname",
] as const;
export type ClaimField = (typeof CLAIM_FIELDS)[number];

/** One thing that an answer says. */
export interface Claim {
  readonly field: ClaimField;
  readonly value: string;
  /** What said it, as `ssh`, `http-server`, `dhcp`; two claims of one source count once. */
  readonly source: string;
  /** 0–1. */
  readonly confidence: number;
}

/** What is believed of one field after everything was heard. */
export interface Verdict extends Claim {
  /** Everything that agrees, the strongest first. */
  readonly sources: readonly string[];
}

/**
 * Weighs claims against each other. Sources that agree strengthen each other as independent ones do; what contradicts takes away its share.
 * @returns One verdict for each field that anything was said of.
 */
export function combineClaims(claims: readonly Claim[]): Readonly<Partial<Record<ClaimField, Verdict>>> {
  const verdicts: Partial<Record<ClaimField, Verdict>> = {};
  for (const field of CLAIM_FIELDS) {
    const verdict = decide(claims.filter((claim) => claim.field === field && claim.value !== ""));
    if (verdict) verdicts[field] = verdict;
  }
  return verdicts;
}

function decide(claims: readonly Claim[]): Verdict | null {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const key = claim.value.toLowerCase();
    const group = groups.get(key);
    if (group) group.push(claim);
    else groups.set(key, [claim]);
  }
  const weighed = [...groups.values()].map(weigh).toSorted((a, b) => b.confidence - a.confidence);
  const [first, second] = weighed;
  if (!first) return null;
  // The second opinion leaves as much doubt as it has weight beside the first.
  const share = second ? first.confidence / (first.confidence + second.confidence * 0.5) : 1;
  return { ...first, confidence: Math.round(first.confidence * share * 100) / 100 };
}

function weigh(claims: readonly Claim[]): Verdict {
  const bySource = new Map<string, Claim>();
  for (const claim of claims.toSorted((a, b) => a.confidence - b.confidence)) bySource.set(claim.source, claim);
  const strongest = [...bySource.values()].toSorted((a, b) => b.confidence - a.confidence);
  const doubt = strongest.reduce((product, claim) => product * (1 - claim.confidence), 1);
  const [best] = strongest as [Claim, ...Claim[]];
  return { ...best, confidence: Math.min(0.99, 1 - doubt), sources: strongest.map((claim) => claim.source) };
}
