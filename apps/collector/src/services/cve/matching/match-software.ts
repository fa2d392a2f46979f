import {
  type DistributionFix, type FixLookup, type Judgment, judgeSoftware, openRecord, type OpenRecord, type Remedy, remediesOf, type Software,
} from "@lanthorn/vulnerability";
import type { Candidate, CveReader } from "../database/reader.ts";

/** A CVE that concerns a piece of software, and what is known of it. */
export interface SoftwareMatch extends Judgment, Pick<Candidate, "id" | "severity" | "score" | "isKev" | "epss"> {
  /** What to update to: the distribution's own package first, where its data name one. */
  readonly remedies: readonly Remedy[];
}

/**
 * Judges a piece of software against all CVEs that name it.
 * @param software As `createSoftware` gives it. Without names, nothing matches.
 * @returns The CVEs that concern it, those that are known to be exploited first, then by EPSS, then by CVSS, then the newest. Some tens of
 * milliseconds for a product with thousands of CVEs.
 */
export function matchSoftware(reader: Pick<CveReader, "candidates" | "fixes">, software: Software): readonly SoftwareMatch[] {
  const lookup = createFixLookup(reader, software);
  const matches = new Map<string, SoftwareMatch>();
  for (const candidate of candidatesOf(reader, software.keys)) {
    if (matches.has(candidate.id)) continue;
    const record = openRecord({ ...candidate, isRejected: false });
    const judgment = judgeSoftware(software, record, lookup);
    if (judgment === null) continue;
    const { id, severity, score, isKev, epss } = candidate;
    matches.set(id, { ...judgment, id, severity, score, isKev, epss, remedies: [...packageRemedy(software, record, lookup), ...remediesOf(record)] });
  }
  return [...matches.values()].toSorted(byRisk);
}

/** The default order of CVEs: known exploitation, EPSS, CVSS, the newest. */
function byRisk(a: SoftwareMatch, b: SoftwareMatch): number {
  return Number(b.isKev) - Number(a.isKev) || (b.epss ?? -1) - (a.epss ?? -1) || (b.score ?? -1) - (a.score ?? -1)
    || b.id.localeCompare(a.id, "en", { numeric: true });
}

function* candidatesOf(reader: Pick<CveReader, "candidates">, keys: readonly string[]): Generator<Candidate> {
  for (const key of keys) {
    const [vendor, product] = splitKey(key);
    let after: string | null = null;
    do {
      const page: ReturnType<CveReader["candidates"]> = reader.candidates(vendor, product, { after });
      yield* page.items;
      after = page.next;
    } while (after !== null);
  }
}

/** A vendor has no colon, and a product may have one. */
function splitKey(key: string): readonly [vendor: string, product: string] {
  const at = key.indexOf(":");
  return [key.slice(0, at), key.slice(at + 1)];
}

/** What the software's distribution says of its package, read once. */
function createFixLookup(reader: Pick<CveReader, "fixes">, { distribution, sourcePackage }: Software): FixLookup {
  if (distribution === null || distribution.release === "" || sourcePackage === "") return () => null;
  const fixes = new Map<string, DistributionFix>();
  for (const { id, release, status, fixedVersion } of reader.fixes(distribution.name, sourcePackage)) {
    const fix = isRelease(release, distribution.release) ? toFix(status, fixedVersion) : null;
    if (fix !== null) fixes.set(id, fix);
  }
  return ({ cveId }) => fixes.get(cveId) ?? null;
}

/** OSV writes `22.04:LTS`. */
function isRelease(known: string, wanted: string): boolean {
  return known === wanted || known.startsWith(`${wanted}:`);
}

function toFix(status: string, fixedVersion: string): DistributionFix | null {
  if (status === "open") return { kind: "open" };
  if (status === "not-affected") return { kind: "fixed", version: "0" };
  return status === "fixed" && fixedVersion !== "" ? { kind: "fixed", version: fixedVersion } : null;
}

function packageRemedy({ distribution, sourcePackage }: Software, { id: cveId }: OpenRecord, lookup: FixLookup): readonly Remedy[] {
  if (distribution === null) return [];
  const { name, release } = distribution;
  const fix = lookup({ cveId, distribution: name, release, sourcePackage });
  if (fix?.kind !== "fixed" || fix.version === "0") return [];
  return [{ product: `${name} ${release} ${sourcePackage}`, fixed: [fix.version], lastAffected: [] }];
}
