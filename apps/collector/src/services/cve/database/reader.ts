import type { CveRecord, Statement } from "@lanthorn/vulnerability";
import { describeError, type Log, parseJson, toInstant } from "@lanthorn/runtime";
import Sqlite from "better-sqlite3";
import { cveIdOf, cveKey } from "./rows/cve-key.ts";
import { currentFile, fileMark } from "./files.ts";
import { readFact, readLineage } from "./generation.ts";
import { plainName, unpackMetrics, unpackReferences, unpackStatements } from "./rows/pack.ts";
import { isOurs } from "./rows/schema.ts";

/** What the database knows of one CVE. */
export interface StoredCve extends Omit<CveRecord, "source" | "published"> {
  /** Null where its feed did not say. */
  readonly published: string | null;
  /** CISA's entry of known exploited vulnerabilities; null where there is none. */
  readonly kev: unknown;
  /** Chance of exploitation in the next 30 days, and the share of CVEs with less; 0 to 1. */
  readonly epss: { readonly score: number; readonly percentile: number } | null;
  readonly techniques: readonly StoredTechnique[];
  /** What ATT&CK recommends against these techniques, at most 100. */
  readonly mitigations: readonly StoredMitigation[];
  /** What distributions say of their packages. */
  readonly fixes: readonly StoredFix[];
}

/** An ATT&CK technique that goes with a CVE. */
export interface StoredTechnique {
  readonly id: string;
  readonly name: string;
  readonly tactics: readonly string[];
  /** `curated`: people have mapped this CVE. `derived`: by its weaknesses and their attack patterns. */
  readonly provenance: "curated" | "derived";
  /** The mapping's feed, or the attack pattern. */
  readonly source: string;
}

/** What helps against a technique. */
export interface StoredMitigation {
  /** As `M1051`. */
  readonly id: string;
  readonly name: string;
  readonly technique: string;
  /** How it helps; empty where nobody says. */
  readonly text: string;
}

/** What a distribution says of a CVE in one of its packages. */
export interface StoredFix {
  readonly distribution: string;
  readonly package: string;
  readonly release: string;
  readonly status: string;
  /** Empty where there is none. */
  readonly fixedVersion: string;
}

/** A CVE that names a product. */
export interface Candidate extends Pick<CveRecord, "id" | "source"> {
  /** Unpacks its statements, anew at each call: a tenth of a millisecond for a hundred matches. */
  readonly statements: () => readonly Statement[];
  /** How many characters they are while they are packed. */
  readonly characters: number;
  readonly severity: string | null;
  readonly score: number | null;
  readonly isKev: boolean;
  readonly epss: number | null;
}

/** What is in the database that answers. */
export interface CveDatabaseFacts {
  /** Another one for each database that was begun afresh: generations of two lineages say nothing of each other. */
  readonly lineage: string;
  /** Rises with each import. */
  readonly generation: number;
  readonly builtAt: string;
  readonly cves: number;
  readonly configured: number;
  /** The most that a generation before it had. */
  readonly mostConfigured: number;
  readonly feeds: readonly {
    readonly kind: string; readonly name: string; readonly importedAt: string; readonly records: number; readonly refused: number;
  }[];
}

/** Reads the CVE database that answers, and the next one as soon as it is there. Each call is some milliseconds at most. */
export interface CveReader {
  /** Null while nothing was loaded yet. */
  facts(): CveDatabaseFacts | null;
  record(id: string): StoredCve | null;
  /**
   * CVEs that name a product as vulnerable, by id; whether they apply is for the matcher.
   * @param page.after The `next` of the page before.
   * @returns `next` is null on the last page. A page is 128 CVEs, or less where they name thousands of products.
   */
  candidates(vendor: string, product: string, page?: { readonly after?: string | null }): Page<Candidate>;
  /** Ids that changed after a generation, rejected ones too, by id; all of them where the database was begun afresh. 1000 a page. */
  changedSince(generation: number, page?: { readonly after?: string | null }): Page<string>;
  /** What a distribution says of one of its packages, by CVE; at most 4096. */
  fixes(distribution: string, packageName: string): readonly (StoredFix & { readonly id: string })[];
  close(): void;
}

/** Part of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

const MAX_CANDIDATES = 128;
/** What is read in some milliseconds. */
const MAX_PAGE_CHARACTERS = 65_536;
const MAX_CHANGED = 1000;
const MAX_FIXES = 4096;
const MAX_TECHNIQUES = 200;
const MAX_MITIGATIONS = 100;
const CACHE_KIBIBYTES = 8192;
const NOTHING = { items: [], next: null } as const;

/**
 * @param directory The folder of the CVE database; it may be missing or empty.
 * @returns Reads at once what is there, and says so where a file is none of this version's: the one before goes on answering.
 */
export function openCveReader(directory: string, { log }: { readonly log: Pick<Log, "error"> }): CveReader {
  const file = currentFile(directory);
  let open: { readonly mark: string; readonly reads: Reads } | null = null;
  let badMark: string | null = null;
  const current = (): Reads | null => {
    const mark = fileMark(file);
    if (mark === null || mark === open?.mark || mark === badMark) return open?.reads ?? null;
    try {
      const reads = openReads(file);
      open?.reads.close();
      open = { mark, reads };
    } catch (error) {
      badMark = mark;
      log.error({ file, reason: describeError(error) }, "the CVE database cannot be read: import its feeds again");
    }
    return open?.reads ?? null;
  };
  return {
    facts: () => current()?.facts() ?? null,
    record(id) {
      const key = cveKey(id);
      return key === null ? null : current()?.record(key) ?? null;
    },
    candidates: (vendor, product, { after = null } = {}) =>
      current()?.candidates(plainName(vendor), plainName(product), keyAfter(after)) ?? NOTHING,
    changedSince: (generation, { after = null } = {}) => current()?.changedSince(generation, keyAfter(after)) ?? NOTHING,
    fixes: (distribution, packageName) => current()?.fixes(distribution, packageName) ?? [],
    close() {
      open?.reads.close();
      open = null;
    },
  };
}

function keyAfter(id: string | null): number {
  return id === null ? 0 : cveKey(id) ?? 0;
}

type Reads = ReturnType<typeof openReads>;

interface CveRow {
  readonly nvd_modified: number | null; readonly list_modified: number | null; readonly published: number | null; readonly is_rejected: number;
  readonly description: string; readonly metrics: string; readonly weaknesses: string; readonly links: string;
  readonly kev: string | null; readonly epss: number | null; readonly percentile: number | null;
}
interface CandidateRow {
  readonly key: number; readonly packed: string; readonly is_nvd: number; readonly severity: string | null; readonly score: number | null; readonly is_kev: number;
  readonly epss: number | null;
}
interface FixRow {
  readonly key: number; readonly distribution: string; readonly package: string; readonly release: string; readonly status: string; readonly fixed_version: string;
}

/** One generation. @throws Error where the file is none of this version's. */
function openReads(file: string) {
  const db = new Sqlite(file, { readonly: true, fileMustExist: true });
  try {
    if (!isOurs(db)) throw new Error("it was written by another version");
    db.pragma(`cache_size = -${CACHE_KIBIBYTES}`);
    return { ...createListReads(db), ...createRecordReads(db), close: () => void db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** NVD's own statements, where it has any. */
const PLACES = "statements where place in (cves.key * 2, cves.key * 2 + 1) order by place desc limit 1";
const EFFECTIVE = `(select packed from ${PLACES})`;

function createListReads(db: Sqlite.Database) {
  const candidates = db.prepare<[string, string, number, number], CandidateRow>(
    `select cves.key, ${EFFECTIVE} as packed, (select place % 2 from ${PLACES}) as is_nvd, severity, cves.score as score, kev.key is not null as is_kev, epss.score as epss `
      + "from products join affected on affected.product = products.id join cves on cves.key = affected.key "
      + "left join kev on kev.key = cves.key left join epss on epss.key = cves.key "
      + "where vendor = ? and products.product = ? and affected.key > ? and is_rejected = 0 order by affected.key limit ?",
  );
  const changed = db.prepare<[number, number, number], number>(
    "select key from cves where changed > ? and key > ? order by key limit ?",
  ).pluck();
  const feeds = db.prepare<[], { readonly kind: string; readonly name: string; readonly imported_at: number; readonly records: number; readonly refused: number;}>(
    "select kind, name, imported_at, records, refused from feeds order by kind, name",
  );
  const [generation = 0, builtAt = 0, cves = 0, configured = 0] = ["generation", "built_at", "cves", "configured"].map((name) => readFact(db, name) ?? 0);
  const mostConfigured = readFact(db, "most_configured") ?? configured;
  const lineage = readLineage(db);
  return {
    facts: (): CveDatabaseFacts => ({
      lineage, generation, builtAt: toInstant(builtAt), cves, configured, mostConfigured,
      feeds: feeds.all().map(({ kind, name, imported_at: at, records, refused }) =>
        ({ kind, name, importedAt: toInstant(at), records, refused })),
    }),
    candidates(vendor: string, product: string, after: number): Page<Candidate> {
      const items: Candidate[] = [];
      let characters = 0;
      for (const row of candidates.iterate(vendor, product, after, MAX_CANDIDATES + 1)) {
        if (items.length === MAX_CANDIDATES || (items.length > 0 && characters + row.packed.length > MAX_PAGE_CHARACTERS)) {
          return { items, next: items.at(-1)?.id ?? null };
        }
        characters += row.packed.length;
        items.push(toCandidate(row));
      }
      return { items, next: null };
    },
    changedSince(since: number, after: number): Page<string> {
      const items = changed.all(since > generation ? 0 : since, after, MAX_CHANGED).map(cveIdOf);
      return { items, next: items.length === MAX_CHANGED ? items.at(-1) ?? null : null };
    },
  };
}

function toCandidate({ key, packed, is_nvd: isNvd, severity, score, is_kev: isKev, epss }: CandidateRow): Candidate {
  return {
    id: cveIdOf(key), source: isNvd === 1 ? "nvd" : "cve-list", statements: () => unpackStatements(packed), characters: packed.length, severity, score, isKev: isKev === 1, epss,
  };
}

function createRecordReads(db: Sqlite.Database) {
  const record = db.prepare<[number], CveRow>(
    "select nvd_modified, list_modified, published, is_rejected, description, metrics, weaknesses, links, entry as kev, epss.score as epss, percentile "
      + "from cves join bodies on bodies.key = cves.key left join kev on kev.key = cves.key left join epss on epss.key = cves.key where cves.key = ?",
  );
  const statements = db.prepare<[number], string>(`select ${EFFECTIVE} from cves where key = ?`).pluck();
  const curated = db.prepare<[number, number], { readonly id: string; readonly name: string | null; readonly tactics: string | null; readonly source: string }>(
    "select technique as id, name, tactics, min(source) as source from cve_techniques left join techniques on id = technique where key = ? and coalesce(is_retired, 0) = 0 group by technique limit ?",
  );
  const derived = db.prepare<[string, number], { readonly id: string; readonly name: string | null; readonly tactics: string | null; readonly source: string }>(
    "select technique as id, name, tactics, min(pattern) as source from weakness_patterns join pattern_techniques using (pattern) "
      + "left join techniques on id = technique where weakness = ? and coalesce(is_retired, 0) = 0 group by technique limit ?",
  );
  const mitigationsOf = db.prepare<[string, number], StoredMitigation>(
    "select mitigations.id as id, mitigations.name as name, techniques.id as technique, text from techniques "
      + "join mitigation_uses on technique = techniques.object join mitigations on mitigations.object = mitigation where techniques.id = ? order by mitigations.id limit ?",
  );
  const fixesOf = db.prepare<[number, number], FixRow>("select * from fixes where key = ? order by distribution, package, release limit ?");
  const fixesIn = db.prepare<[string, string, number], FixRow>("select * from fixes where distribution = ? and package = ? order by key limit ?");
  const toFix = ({ distribution, package: name, release, status, fixed_version: fixedVersion }: FixRow): StoredFix =>
    ({ distribution, package: name, release, status, fixedVersion });
  const techniquesOf = (key: number, weaknesses: readonly string[]): readonly StoredTechnique[] => {
    const rows = [
      ...curated.all(key, MAX_TECHNIQUES).map((row) => ({ ...row, provenance: "curated" as const })),
      ...weaknesses.flatMap((weakness) => derived.all(weakness, MAX_TECHNIQUES)).map((row) => ({ ...row, provenance: "derived" as const })),
    ];
    const seen = new Set<string>();
    return rows.filter(({ id }) => !seen.has(id) && seen.add(id)).slice(0, MAX_TECHNIQUES).map(({ id, name, tactics, provenance, source }) =>
      ({ id, name: name ?? id, tactics: tactics === null || tactics === "" ? [] : tactics.split(","), provenance, source }));
  };
  return {
    record(key: number): StoredCve | null {
      const row = record.get(key);
      if (!row) return null;
      const { description, epss, percentile } = row;
      const weaknesses = row.weaknesses === "" ? [] : row.weaknesses.split(" ");
      const techniques = techniquesOf(key, weaknesses);
      return {
        id: cveIdOf(key), isRejected: row.is_rejected === 1, description, weaknesses,
        published: row.published === null ? null : toInstant(row.published), lastModified: toInstant(row.nvd_modified ?? row.list_modified ?? 0),
        metrics: unpackMetrics(row.metrics), references: unpackReferences(row.links), statements: unpackStatements(statements.get(key) ?? ""),
        kev: row.kev === null ? null : parseJson(row.kev), epss: epss === null || percentile === null ? null : { score: epss, percentile },
        techniques, mitigations: techniques.flatMap(({ id }) => mitigationsOf.all(id, MAX_MITIGATIONS)).slice(0, MAX_MITIGATIONS),
        fixes: fixesOf.all(key, MAX_FIXES).map(toFix),
      };
    },
    fixes: (distribution: string, name: string) =>
      fixesIn.all(distribution, name, MAX_FIXES).map((row) => ({ id: cveIdOf(row.key), ...toFix(row) })),
  };
}
