import { compareVersions, type Mitigation, type MitigationUse, type Technique, type VersionOrder } from "@lanthorn/vulnerability";
import type Sqlite from "better-sqlite3";
import { cveKey } from "./rows/cve-key.ts";

/** What a feed may say, apart from CVE records. Those of `ANYBODY` are of no feed of a name. */
export type FactTable = "kev" | "epss" | "techniques" | "mitigations" | "mitigation_uses" | "cve_techniques" | "weakness_patterns" | "pattern_techniques" | "fixes";
const ANYBODY: ReadonlySet<FactTable> = new Set(["kev", "epss", "techniques", "mitigations", "mitigation_uses"]);

/** Writes what other feeds say of CVEs. Each `add…` returns false for what names no CVE. */
export interface FactWriter {
  /** Forgets what a feed said before this import: it comes whole again, in one file or several. */
  clear(feed: string, tables: readonly FactTable[]): void;
  /** As `clear`, of one distribution's fixes. */
  clearFixes(feed: string, distribution: string): void;
  /** @param entry What CISA's catalogue says, as JSON. */
  addKev(id: string, entry: object): boolean;
  /** Both from 0 to 1. */
  addEpss(id: string, score: number, percentile: number): boolean;
  addTechnique(technique: Technique): void;
  addMitigation(mitigation: Mitigation): void;
  addMitigationUse(use: MitigationUse): void;
  /** @param mapping.kind What using the vulnerability has to do with the technique, as `exploitation_technique`. */
  addMapping(id: string, mapping: { readonly technique: string; readonly kind: string; readonly feed: string }): boolean;
  /** An attack pattern uses a weakness. */
  addWeakness(weakness: string, pattern: string, feed: string): void;
  /** An attack pattern is a technique. */
  addPattern(pattern: string, technique: string, feed: string): void;
  /**
   * What Debian's tracker says stands before what others say of Debian. Of several advisories of one feed the highest version counts: an
   * earlier one may have fixed a part.
   */
  addFix(id: string, fix: {
    readonly distribution: string; readonly package: string; readonly release: string; readonly status: string; readonly fixedVersion: string;
    readonly urgency: string; readonly feed: string; readonly isTracker: boolean; readonly order: VersionOrder;
  }): boolean;
}

/** @param db The next generation. */
export function createFactWriter(db: Sqlite.Database): FactWriter {
  const kev = db.prepare("insert into kev (key, entry) values (?, ?) on conflict (key) do update set entry = excluded.entry");
  const epss = db.prepare(
    "insert into epss (key, score, percentile) values (?, ?, ?) on conflict (key) do update set score = excluded.score, percentile = excluded.percentile",
  );
  const technique = db.prepare(
    "insert into techniques (id, name, tactics, object, is_retired) values (?, ?, ?, ?, ?) on conflict (id) do update set name = excluded.name, tactics = excluded.tactics, "
      + "object = iif(excluded.object = '', object, excluded.object), is_retired = excluded.is_retired where techniques.is_retired = 1 or excluded.is_retired = 0",
  );
  const mitigation = db.prepare("insert into mitigations (object, id, name) values (?, ?, ?) on conflict (object) do update set id = excluded.id, name = excluded.name");
  const use = db.prepare("insert into mitigation_uses (technique, mitigation, text) values (?, ?, ?) on conflict do update set text = excluded.text");
  const mapping = db.prepare("insert or ignore into cve_techniques (key, technique, kind, source) values (?, ?, ?, ?)");
  const weakness = db.prepare("insert or ignore into weakness_patterns (weakness, pattern, source) values (?, ?, ?)");
  const pattern = db.prepare("insert or ignore into pattern_techniques (pattern, technique, source) values (?, ?, ?)");
  const fix = db.prepare(
    "insert into fixes (distribution, package, key, release, status, fixed_version, urgency, source) values (?, ?, ?, ?, ?, ?, ?, ?) "
      + "on conflict do update set status = excluded.status, fixed_version = excluded.fixed_version, urgency = excluded.urgency, source = excluded.source "
      + "where ? or fixes.source = excluded.source",
  );
  const fixBefore = db.prepare<[string, string, number, string, string], string>(
    "select fixed_version from fixes where distribution = ? and package = ? and key = ? and release = ? and source = ? and status = 'fixed'",
  ).pluck();
  const dropFixes = db.prepare("delete from fixes where distribution = ? and source = ?");
  const cleared = new Set<string>();
  /** @returns Whether it was not cleared so far. */
  const isFirst = (...what: readonly string[]) => cleared.size < cleared.add(what.join("\n")).size;
  const withKey = (id: string, write: (key: number) => void) => {
    const key = cveKey(id);
    if (key !== null) write(key);
    return key !== null;
  };
  return {
    clear(feed, tables) {
      for (const table of tables) {
        if (!isFirst(table, feed)) continue;
        if (ANYBODY.has(table)) db.exec(`delete from ${table}`);
        else db.prepare(`delete from ${table} where source = ?`).run(feed);
      }
    },
    clearFixes(feed, distribution) {
      if (isFirst("fixes", feed, distribution)) dropFixes.run(distribution, feed);
    },
    addKev: (id, entry) => withKey(id, (key) => kev.run(key, JSON.stringify(entry))),
    addEpss: (id, score, percentile) => withKey(id, (key) => epss.run(key, score, percentile)),
    addTechnique: ({ id, name, tactics, objectId, isRetired }) => void technique.run(id, name, tactics.join(","), objectId, Number(isRetired)),
    addMitigation: ({ objectId, id, name }) => void mitigation.run(objectId, id, name),
    addMitigationUse: (one) => void use.run(one.techniqueObjectId, one.mitigationObjectId, one.text),
    addMapping: (id, one) => withKey(id, (key) => mapping.run(key, one.technique, one.kind, one.feed)),
    addWeakness: (name, id, feed) => void weakness.run(name, id, feed),
    addPattern: (id, name, feed) => void pattern.run(id, name, feed),
    addFix: (id, one) => withKey(id, (key) => {
      const before = one.isTracker ? undefined : fixBefore.get(one.distribution, one.package, key, one.release, one.feed);
      if (before !== undefined && compareVersions(one.order, before, one.fixedVersion) >= 0) return;
      fix.run(one.distribution, one.package, key, one.release, one.status, one.fixedVersion, one.urgency, one.feed, Number(one.isTracker));
    }),
  };
}
