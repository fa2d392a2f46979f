import { type Baseline, type Comparison, emptyComparison, factName, noteChanged, noteUnlooked, type SeenFact } from "./result.ts";

/** A certificate of a device as it was shown last. */
export interface CertificateNow {
  /** SHA-256 in hexadecimal. */
  readonly fingerprint: string;
  readonly seenAt: string;
}

const KEY = "tls";
/** The services of a device are asked one after another; what was shown this long before the last one is of an earlier look. */
const ONE_LOOK_MS = 3_600_000;
/** More are of a device that makes them up. */
const MAX_CERTIFICATES = 15;

/**
 * Compares the TLS certificates that a device shows, whatever the port. One that is missing says nothing: its service may not have
 * answered in time.
 */
export function compareCertificates(certificates: readonly CertificateNow[], { mode, facts }: Baseline, now: number): Comparison {
  const to = emptyComparison();
  const fact = facts.get(factName({ kind: "certificate", key: KEY }));
  const lookedAt = certificates.reduce((last, { seenAt }) => (seenAt > last ? seenAt : last), "");
  const current = certificates.filter(({ seenAt }) => Date.parse(lookedAt) - Date.parse(seenAt) < ONE_LOOK_MS)
    .map(({ fingerprint }) => fingerprint).toSorted().slice(0, MAX_CERTIFICATES);
  const seen: SeenFact = { kind: "certificate", key: KEY, value: current.join(","), lookedAt, scope: "probe" };
  if (current.length === 0) {
    if (fact) noteUnlooked(to, mode, fact, now);
    return to;
  }
  if (!fact) {
    if (mode !== "frozen") to.learned.push(seen);
    return to;
  }
  const known = fact.value.split(",");
  if (current.every((one) => known.includes(one))) to.learned.push({ ...seen, value: fact.value });
  else noteChanged(to, mode, fact, { seen, outcome: current.some((one) => known.includes(one)) ? "changed" : "replaced" });
  return to;
}
