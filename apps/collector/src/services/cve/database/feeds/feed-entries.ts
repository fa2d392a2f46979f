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

/** Forgets what a feed said before, where it comes whole again. CVE records are withdrawn one by one. */
export function forgetBefore(kind: FeedKind, feed: string, facts: FactWriter): void {
  facts.clear(feed, FACTS_OF[kind] ?? []);
}

const PATTERNS: readonly FactTable[] = ["weakness_patterns", "pattern_techniques"];
/** The short list of techniques only adds to ATT&CK's own bundle. */
const FACTS_OF: Readonly<Partial<Record<FeedKind, readonly FactTable[]>>> = {
  kev: ["kev"], epss: ["epss"], debian: ["fixes"], osv: ["fixes"], "osv-array": ["fixes"],
  "attack-stix": ["techniques", "mitigations", "mitigation_uses"],
  "attack-patterns": PATTERNS, "capec-stix": PATTERNS, "capec-xml": PATTERNS, "cwe-xml": ["weakness_patterns"],
  "technique-mappings": ["cve_techniques"], "technique-mappings-csv": ["cve_techniques"],
};

/** Writes one entry of a feed, and counts it. @param feed Its name. */
export function takeEntry(entry: FeedEntry, feed: string, { records, facts, tally }: FeedSinks): void {
  const count = (isTaken: boolean) => (isTaken ? tally.took("added", null) : tally.took("refused", "bad-id"));
  switch (entry.kind) {
    case "cve": {
      const { outcome, reason } = records.write(entry.record);
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
      if (!isWithdrawn) for (const one of affected) addOsvFixes(cveIds, one, { facts, feed });
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
function addOsvFixes(cveIds: readonly string[], { ecosystem, package: name, ranges }: OsvAffected, { facts, feed }: { readonly facts: FactWriter; readonly feed: string }): void {
  const [distribution = ""] = ecosystem.toLowerCase().split(":", 1);
  const release = releaseName(distribution, ecosystem.slice(distribution.length));
  for (const { to, order } of ranges) {
    if (to === null || to.isIncluded || order === "git") continue;
    for (const id of cveIds) {
      facts.addFix(id, { distribution, package: name, release, status: "fixed", fixedVersion: to.version, urgency: "", feed, isTracker: false, order });
    }
  }
}
