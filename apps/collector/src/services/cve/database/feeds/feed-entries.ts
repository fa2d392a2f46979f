import { type FeedEntry, type FeedKind, type OsvAffected, releaseName } from "@lanthorn/vulnerability";
import type { FactTable, FactWriter } from "../fact-writer.ts";
import type { RecordWriter } from "../record-writer.ts";
import type { FeedTally } from "./feed-tally.ts";

/** Where a feed's entries go. */
export interface FeedSinks {
  readonly records: RecordWriter;
  readonly facts: FactWriter;
  readonly tally: FeedTally;
}

/** What says something: the data set, wherever its file lies, so that a newer copy stands in the place of an older one. */
export interface FactSource {
  readonly name: string;
  /** Whether what it said before and does not say now is forgotten. */
  readonly isWhole: boolean;
}

/** @param isWhole Whether its files are all of it. */
export function sourceOf(kind: FeedKind, isWhole: boolean): FactSource {
  return { name: SOURCES[kind]?.name ?? kind, isWhole };
}

/** Forgets what a source said before, where it comes whole again, once in an import. CVE records are withdrawn one by one, and OSV's by distribution. */
export function forgetBefore(kind: FeedKind, { name, isWhole }: FactSource, facts: FactWriter): void {
  if (isWhole) facts.clear(name, SOURCES[kind]?.tables ?? []);
}

const PATTERNS: readonly FactTable[] = ["weakness_patterns", "pattern_techniques"];
const CAPEC = { name: "capec", tables: PATTERNS } as const;
const OSV = { name: "osv", tables: [] } as const;
/** The short list of techniques only adds to ATT&CK's own bundle. */
const SOURCES: Readonly<Partial<Record<FeedKind, { readonly name: string; readonly tables: readonly FactTable[] }>>> = {
  kev: { name: "kev", tables: ["kev"] }, epss: { name: "epss", tables: ["epss"] }, debian: { name: "debian", tables: ["fixes"] }, osv: OSV, "osv-array": OSV,
  "attack-stix": { name: "attack", tables: ["techniques", "mitigations", "mitigation_uses"] },
  "attack-patterns": CAPEC, "capec-stix": CAPEC, "capec-xml": CAPEC, "cwe-xml": { name: "cwe", tables: ["weakness_patterns"] },
  "technique-mappings": { name: "ctid", tables: ["cve_techniques"] }, "technique-mappings-csv": { name: "attack-to-cve", tables: ["cve_techniques"] },
};

/** Writes one entry of a feed, and counts it. */
export function takeEntry(entry: FeedEntry, source: FactSource, { records, facts, tally }: FeedSinks): void {
  const feed = source.name;
  const count = (isTaken: boolean) => (isTaken ? tally.took("added", null) : tally.took("refused", "bad-id"));
  switch (entry.kind) {
    case "cve": {
      const { outcome, reason, lost } = records.write(entry.record);
      if (lost === true) tally.lost();
      return tally.took(outcome, reason);
    }
    case "kev": {
      return count(facts.addKev(entry.entry.id, entry.entry));
    }
    case "epss": {
      return count(facts.addEpss(entry.entry.id, entry.entry.probability, entry.entry.percentile));
    }
    case "debian": {
      const { package: name, cveId, releases } = entry.entry;
      return count(releases.every(({ release, status, fixedVersion, urgency }) =>
        facts.addFix(cveId, { distribution: "debian", package: name, release, status, fixedVersion: fixedVersion ?? "", urgency, feed, isTracker: true, order: "debian" })));
    }
    case "osv": {
      const { cveIds, affected, isWithdrawn } = entry.record;
      if (!isWithdrawn) for (const one of affected) addOsvFixes(cveIds, one, { facts, source });
      return count(true);
    }
    case "attack-pattern": {
      const { id, weaknesses, techniques, isRetired } = entry.pattern;
      if (!isRetired) {
        for (const weakness of weaknesses) facts.addWeakness(weakness, id, feed);
        for (const technique of techniques) facts.addPattern(id, technique, feed);
      }
      return count(true);
    }
    case "weakness": {
      const { id, patterns, isRetired } = entry.weakness;
      if (!isRetired) for (const pattern of patterns) facts.addWeakness(id, pattern, feed);
      return count(true);
    }
    case "technique": {
      facts.addTechnique(entry.technique);
      return count(true);
    }
    case "mitigation": {
      if (!entry.mitigation.isRetired) facts.addMitigation(entry.mitigation);
      return count(true);
    }
    case "mitigation-use": {
      facts.addMitigationUse(entry.use);
      return count(true);
    }
    case "technique-mapping": {
      const { cveId, techniqueId: technique, type: kind } = entry.mapping;
      return count(facts.addMapping(cveId, { technique, kind, feed }));
    }
    default: {
      return entry satisfies never;
    }
  }
}

/** A range that ends before a version is fixed by it. Ecosystems are as `Debian:12`; those of languages have no release. */
function addOsvFixes(cveIds: readonly string[], { ecosystem, package: name, ranges }: OsvAffected, { facts, source }: { readonly facts: FactWriter; readonly source: FactSource }): void {
  const [distribution = ""] = ecosystem.toLowerCase().split(":", 1);
  const release = releaseName(distribution, ecosystem.slice(distribution.length));
  // Each distribution's advisories are an archive of their own.
  if (source.isWhole) facts.clearFixes(source.name, distribution);
  for (const { to, order } of ranges) {
    if (to === null || to.isIncluded || order === "git") continue;
    for (const id of cveIds) {
      facts.addFix(id, { distribution, package: name, release, status: "fixed", fixedVersion: to.version, urgency: "", feed: source.name, isTracker: false, order });
    }
  }
}
