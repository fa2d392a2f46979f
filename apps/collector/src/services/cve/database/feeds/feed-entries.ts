import type { FeedEntry, FeedKind, OsvAffected } from "@lanthorn/vulnerability";
import type { FactWriter } from "../fact-writer.ts";
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
  if (kind === "kev") facts.clear(feed, "kev");
  else if (kind === "epss") facts.clear(feed, "epss");
  else if (kind === "techniques") facts.clear(feed, "techniques");
  else if (kind === "attack-patterns") facts.clear(feed, "weakness_techniques");
  else if (kind === "technique-mappings" || kind === "technique-mappings-csv") facts.clear(feed, "cve_techniques");
  else if (kind === "debian") facts.clear("debian", "fixes");
}

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
        facts.addFix(cveId, { distribution: "debian", package: name, release, status, fixedVersion: fixedVersion ?? "", urgency })));
    }
    case "osv": {
      const { cveIds, affected, isWithdrawn } = entry.record;
      if (!isWithdrawn) for (const one of affected) addOsvFixes(cveIds, one, facts);
      return count(true);
    }
    case "attack-pattern": {
      const { id, weaknesses, techniques, isRetired } = entry.pattern;
      if (!isRetired) for (const weakness of weaknesses) for (const technique of techniques) facts.addWeakness(weakness, technique, id);
      return count(true);
    }
    case "technique": {
      if (!entry.technique.isRetired) facts.addTechnique(entry.technique);
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
function addOsvFixes(cveIds: readonly string[], { ecosystem, package: name, ranges }: OsvAffected, facts: FactWriter): void {
  const [distribution = "", ...release] = ecosystem.split(":");
  for (const { to, order } of ranges) {
    if (to === null || to.isIncluded || order === "git") continue;
    for (const id of cveIds) {
      facts.addFix(id, { distribution: distribution.toLowerCase(), package: name, release: release.join(":"), status: "fixed", fixedVersion: to.version, urgency: "" });
    }
  }
}
