import { type FixLookup, type Judgment, judgeSoftware, type OpenRecord, type Remedy, type Software } from "@lanthorn/vulnerability";
import type { Candidate, CveReader } from "../database/reader.ts";
import { createOpenedProducts, type OpenedProducts } from "./opened-products.ts";

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
  return judgeProducts(createOpenedProducts(reader, { characters: 0, matches: 0 }), software).toSorted(byRisk);
}

/** As `matchSoftware`, in no order, by products that may be open already. */
export function judgeProducts(products: OpenedProducts, software: Software): readonly SoftwareMatch[] {
  const { lookup } = products.fixesOf(software);
  const matches = new Map<string, SoftwareMatch>();
  for (const key of software.keys) {
    for (const { record, remedies, ...facts } of products.of(key, software)) {
      if (matches.has(facts.id)) continue;
      const judgment = judgeSoftware(software, record, lookup);
      if (judgment === null) continue;
      const own = packageRemedy(software, record, lookup);
      matches.set(facts.id, { ...judgment, ...facts, remedies: own === null ? remedies() : [own, ...remedies()] });
    }
  }
  return [...matches.values()];
}

/** The default order of CVEs: known exploitation, EPSS, CVSS, the newest. */
function byRisk(a: SoftwareMatch, b: SoftwareMatch): number {
  return Number(b.isKev) - Number(a.isKev) || (b.epss ?? -1) - (a.epss ?? -1) || (b.score ?? -1) - (a.score ?? -1)
    || b.id.localeCompare(a.id, "en", { numeric: true });
}

function packageRemedy({ distribution, sourcePackage }: Software, { id: cveId }: OpenRecord, lookup: FixLookup): Remedy | null {
  if (distribution === null) return null;
  const { name, release } = distribution;
  const fix = lookup({ cveId, distribution: name, release, sourcePackage });
  if (fix?.kind !== "fixed" || fix.version === "0") return null;
  return { product: `${name} ${release} ${sourcePackage}`, fixed: [fix.version], lastAffected: [] };
}
