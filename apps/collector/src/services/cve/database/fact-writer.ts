import type Sqlite from "better-sqlite3";
import { cveKey } from "./rows/cve-key.ts";

/** Writes what other feeds say of CVEs. Each `add…` returns false for what names no CVE. */
export interface FactWriter {
  /** Forgets what a feed said before: it comes whole again. */
  clear(feed: string, table: "kev" | "epss" | "techniques" | "cve_techniques" | "weakness_techniques" | "fixes"): void;
  /** @param entry What CISA's catalogue says, as JSON. */
  addKev(id: string, entry: object): boolean;
  /** Both from 0 to 1. */
  addEpss(id: string, score: number, percentile: number): boolean;
  addTechnique(technique: { readonly id: string; readonly name: string; readonly tactics: readonly string[] }): void;
  /** @param mapping.kind What using the vulnerability has to do with the technique, as `exploitation_technique`. */
  addMapping(id: string, mapping: { readonly technique: string; readonly kind: string; readonly feed: string }): boolean;
  /** @param pattern The attack pattern that leads from the weakness to the technique, as `CAPEC-87`. */
  addWeakness(weakness: string, technique: string, pattern: string): void;
  addFix(id: string, fix: {
    readonly distribution: string; readonly package: string; readonly release: string; readonly status: string; readonly fixedVersion: string;
    readonly urgency: string;
  }): boolean;
}

/** @param db The next generation. */
export function createFactWriter(db: Sqlite.Database): FactWriter {
  const kev = db.prepare("insert into kev (key, entry) values (?, ?) on conflict (key) do update set entry = excluded.entry");
  const epss = db.prepare(
    "insert into epss (key, score, percentile) values (?, ?, ?) on conflict (key) do update set score = excluded.score, percentile = excluded.percentile",
  );
  const technique = db.prepare(
    "insert into techniques (id, name, tactics) values (?, ?, ?) on conflict (id) do update set name = excluded.name, tactics = excluded.tactics",
  );
  const mapping = db.prepare("insert or ignore into cve_techniques (key, technique, kind, source) values (?, ?, ?, ?)");
  const weakness = db.prepare("insert or ignore into weakness_techniques (weakness, technique, pattern) values (?, ?, ?)");
  const fix = db.prepare(
    "insert into fixes (distribution, package, key, release, status, fixed_version, urgency) values (?, ?, ?, ?, ?, ?, ?) "
      + "on conflict do update set status = excluded.status, fixed_version = excluded.fixed_version, urgency = excluded.urgency",
  );
  const withKey = (id: string, write: (key: number) => void) => {
    const key = cveKey(id);
    if (key !== null) write(key);
    return key !== null;
  };
  return {
    clear(feed, table) {
      if (table === "cve_techniques") db.prepare("delete from cve_techniques where source = ?").run(feed);
      else if (table === "fixes") db.prepare("delete from fixes where distribution = ?").run(feed);
      else db.exec(`delete from ${table}`);
    },
    addKev: (id, entry) => withKey(id, (key) => kev.run(key, JSON.stringify(entry))),
    addEpss: (id, score, percentile) => withKey(id, (key) => epss.run(key, score, percentile)),
    addTechnique: ({ id, name, tactics }) => void technique.run(id, name, tactics.join(",")),
    addMapping: (id, one) => withKey(id, (key) => mapping.run(key, one.technique, one.kind, one.feed)),
    addWeakness: (name, id, pattern) => void weakness.run(name, id, pattern),
    addFix: (id, one) => withKey(id, (key) =>
      fix.run(one.distribution, one.package, key, one.release, one.status, one.fixedVersion, one.urgency)),
  };
}
