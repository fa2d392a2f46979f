import type { CveRecord, Statement } from "@lanthorn/vulnerability";
import type Sqlite from "better-sqlite3";
import { cveKey } from "./rows/cve-key.ts";
import { packMetrics, packReferences, packStatements, productOf, unpackStatements } from "./rows/pack.ts";

/** What became of a record. `older`: what is there is as new. `withdrawn`: its CVE was rejected. */
export type RecordOutcome = "added" | "changed" | "older" | "withdrawn" | "refused";

/** Writes CVE records of feeds into the next generation. */
export interface RecordWriter {
  /** @returns What became of it; `reason` where it was refused; `lost` where it no longer says what it affects, which it did before. */
  write(record: CveRecord): { readonly outcome: RecordOutcome; readonly reason: string | null; readonly lost?: boolean };
}

/** NVD's longest is 4,000 characters, the CVE list's by its schema 4,096. */
const MAX_DESCRIPTION_CHARACTERS = 65_536;
/** The largest of NVD's are 90 kB. A reader parses one at a time between two turns of the event loop. */
const MAX_PACKED_CHARACTERS = 1_000_000;
/** A clock that is ahead, and no more: a moment far ahead would hold off all that follows. */
const MAX_AHEAD_MS = 86_400_000;
const RISK_OF_CVSS = 10;

interface Row {
  readonly nvd_modified: number | null;
  readonly list_modified: number | null;
  readonly is_rejected: number;
  readonly has_statements: number;
}

/**
 * Records replace only older ones of the same feed. Facts (description, metrics, references) are NVD's where it has the CVE. Statements are NVD's where it
 * has any, else the CVE list's.
 * @param options.isFresh The search index is built when all is written.
 * @param options.now Milliseconds since the epoch.
 */
export function createRecordWriter(db: Sqlite.Database, options: {
  readonly generation: number; readonly now: number; readonly isFresh: boolean;
}): RecordWriter {
  const { generation, now, isFresh } = options;
  const findRow = db.prepare<[number], Row>("select nvd_modified, list_modified, is_rejected, has_statements from cves where key = ?");
  const addRow = db.prepare(
    "insert into cves (key, nvd_modified, list_modified, published, is_rejected, has_statements, score, severity, risk, changed) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const changeRow = db.prepare(
    "update cves set nvd_modified = ?, list_modified = ?, published = ?, is_rejected = ?, has_statements = ?, score = ?, severity = ?, risk = ?, changed = ? where key = ?",
  );
  const touchRow = db.prepare("update cves set list_modified = ?, has_statements = ?, changed = ? where key = ?");
  const putBody = db.prepare(
    "insert into bodies (key, description, metrics, weaknesses, links) values (?, ?, ?, ?, ?) on conflict (key) do update set "
      + "description = excluded.description, metrics = excluded.metrics, weaknesses = excluded.weaknesses, links = excluded.links",
  );
  const dropBody = createSearchWriter(db);
  const statements = createStatementsWriter(db);

  const writeFacts = (key: number, record: CveRecord, before: Row | undefined, modified: Pick<Row, "nvd_modified" | "list_modified">, has: boolean) => {
    const [best] = record.metrics;
    const score = record.isRejected ? null : best?.score ?? null;
    const severity = record.isRejected ? null : best?.severity ?? null;
    const risk = Math.round((score ?? 0) * RISK_OF_CVSS);
    const published = Date.parse(record.published);
    const facts = [
      modified.nvd_modified, modified.list_modified, Number.isNaN(published) ? null : published, Number(record.isRejected), Number(has), score,
      severity, risk, generation,
    ];
    if (!isFresh && before?.is_rejected === 0) dropBody.remove(key);
    if (before) changeRow.run(...facts, key);
    else addRow.run(key, ...facts);
    putBody.run(key, record.description, packMetrics(record.metrics), record.weaknesses.join(" "), packReferences(record.references));
    if (!isFresh && !record.isRejected) dropBody.add(key);
  };

  return {
    write(record) {
      const refuse = (reason: string) => ({ outcome: "refused", reason } as const);
      const key = cveKey(record.id);
      if (key === null) return refuse("its id is none of a CVE");
      const modified = Date.parse(record.lastModified);
      if (Number.isNaN(modified)) return refuse("it does not say when it was modified");
      if (modified > now + MAX_AHEAD_MS) return refuse("it was modified in the future");
      if (record.description.length > MAX_DESCRIPTION_CHARACTERS) return refuse("its description is too long");
      const packed = record.isRejected ? "" : packStatements(record.statements);
      if (packed.length > MAX_PACKED_CHARACTERS) return refuse("it names too many products");
      const before = findRow.get(key);
      const isNvd = record.source === "nvd";
      const last = isNvd ? before?.nvd_modified : before?.list_modified;
      if (typeof last === "number" && last >= modified) return { outcome: "older", reason: null };
      const at = { nvd_modified: before?.nvd_modified ?? null, list_modified: before?.list_modified ?? null, [isNvd ? "nvd_modified" : "list_modified"]: modified };
      const has = statements.replace(key, record, packed, before !== undefined);
      // NVD's word about the CVE as a whole stands; the list only adds what is affected.
      if (isNvd || before === undefined || before.nvd_modified === null) writeFacts(key, record, before, at, has);
      else touchRow.run(at.list_modified, Number(has), generation, key);
      if (record.isRejected) return { outcome: "withdrawn", reason: null };
      return { outcome: before ? "changed" : "added", reason: null, lost: before?.has_statements === 1 && !has };
    },
  };
}

/** Keeps full-text search at what the descriptions say. FTS5 has to be given what it has indexed to forget it. */
function createSearchWriter(db: Sqlite.Database) {
  const remove = db.prepare("insert into search (search, rowid, description) select 'delete', key, description from bodies where key = ?");
  const add = db.prepare("insert into search (rowid, description) select key, description from bodies where key = ?");
  return { remove: (key: number) => void remove.run(key), add: (key: number) => void add.run(key) };
}

/** Keeps a CVE's statements, and under which products it is a candidate. */
function createStatementsWriter(db: Sqlite.Database) {
  const findAll = db.prepare<[number, number], Stored>("select place, packed from statements where place in (?, ?)");
  const put = db.prepare("insert into statements (place, packed) values (?, ?) on conflict (place) do update set packed = excluded.packed");
  const remove = db.prepare("delete from statements where place = ?");
  const addCandidate = db.prepare("insert or ignore into affected (product, key) values (?, ?)");
  const removeCandidate = db.prepare("delete from affected where product = ? and key = ?");
  const products = createProducts(db);
  return {
    /** @returns Whether any statement of the CVE's counts now. */
    replace(key: number, { source, statements, isRejected }: CveRecord, packed: string, isKnown: boolean): boolean {
      const places = [key * 2, key * 2 + 1] as const;
      const place = source === "nvd" ? places[1] : places[0];
      const all = isKnown ? findAll.all(...places) : [];
      const isGone = isRejected && source === "nvd";
      if (isGone) for (const one of places) remove.run(one);
      else if (packed === "") remove.run(place);
      else put.run(place, packed);
      const rest = isGone ? [] : all.filter((one) => one.place !== place);
      const [before, after] = [effective(all), effective([...rest, ...(packed === "" ? [] : [{ place, packed }])])];
      if (before === after) return after !== "";
      const old = before === "" ? new Set<number>() : products.of(unpackStatements(before));
      const now = after === "" ? new Set<number>() : products.of(after === packed ? statements : unpackStatements(after));
      for (const product of old) if (!now.has(product)) removeCandidate.run(product, key);
      for (const product of now) if (!old.has(product)) addCandidate.run(product, key);
      return after !== "";
    },
  };
}

interface Stored {
  readonly place: number;
  readonly packed: string;
}

/** NVD's own analysis, where there is one. */
function effective(all: readonly Stored[]): string {
  return all.toSorted((a, b) => b.place - a.place)[0]?.packed ?? "";
}

/** Numbers of products; each is read from the database once. */
function createProducts(db: Sqlite.Database) {
  const find = db.prepare<[string, string], number>("select id from products where vendor = ? and product = ?").pluck();
  const add = db.prepare("insert into products (vendor, product) values (?, ?)");
  const known = new Map<string, number>();
  const numberOf = (vendor: string, product: string): number => {
    const name = `${vendor}\n${product}`;
    const id = known.get(name) ?? find.get(vendor, product) ?? Number(add.run(vendor, product).lastInsertRowid);
    known.set(name, id);
    return id;
  };
  return {
    /** Those that statements call vulnerable: platforms make no candidates. */
    of(statements: readonly Statement[]): ReadonlySet<number> {
      const found = new Set<number>();
      let last = "";
      for (const { nodes } of statements) {
        for (const { matches } of nodes) {
          for (const { isVulnerable, criteria } of matches) {
            if (!isVulnerable) continue;
            const name = productOf(criteria);
            if (name === null) continue;
            const text = `${name.vendor}\n${name.product}`;
            if (text === last) continue;
            last = text;
            found.add(numberOf(name.vendor, name.product));
          }
        }
      }
      return found;
    },
  };
}
