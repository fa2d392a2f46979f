import Sqlite from "better-sqlite3";
import { toInstant } from "@lanthorn/runtime";
import { cveIdOf, type KeyRange, keysWithPrefix } from "../rows/cve-key.ts";
import { currentFile, fileMark } from "../files.ts";
import { isOurs } from "../rows/schema.ts";

/** What is looked for. */
export interface CveSearch {
  /** Words, all of which must be in the description, the last one perhaps begun; or the beginning of an id. */
  readonly text: string;
  readonly cvssMin: number | null;
  /** `risk`: known exploitation, then EPSS, then CVSS. `relevance`: by bm25. */
  readonly order: "risk" | "relevance";
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
}

/** A CVE that was found. */
export interface FoundCve {
  readonly id: string;
  readonly description: string;
  readonly published: string | null;
  readonly severity: string | null;
  readonly score: number | null;
  readonly isKev: boolean;
  readonly epss: number | null;
}

/** A page of what was found. */
export interface CveSearchResult {
  readonly items: readonly FoundCve[];
  readonly total: number;
}

const MAX_TEXT_CHARACTERS = 200;
const MAX_WORDS = 8;
/** A word that is still being typed stands for all that begin so: of two letters, those would be most of the index. */
const MIN_BEGUN_LETTERS = 3;
const MAX_PER_PAGE = 100;
const MAX_OFFSET = 10_000;
const CACHE_KIBIBYTES = 16_384;
const NOTHING: CveSearchResult = { items: [], total: 0 };

/** Searches the database that answers; opens the next one when it is there. Where none is, nothing is found. */
export function createCveSearch(directory: string): (search: CveSearch) => CveSearchResult {
  const file = currentFile(directory);
  let open: { readonly mark: string; readonly db: Sqlite.Database } | null = null;
  const current = (): Sqlite.Database | null => {
    const mark = fileMark(file);
    if (mark === null || mark === open?.mark) return open?.db ?? null;
    const db = new Sqlite(file, { readonly: true, fileMustExist: true });
    if (!isOurs(db)) {
      db.close();
      return open?.db ?? null;
    }
    db.pragma(`cache_size = -${CACHE_KIBIBYTES}`);
    open?.db.close();
    open = { mark, db };
    return db;
  };
  return (search) => {
    const db = current();
    if (db === null) return NOTHING;
    const text = search.text.trim().slice(0, MAX_TEXT_CHARACTERS);
    const ranges = keysWithPrefix(text);
    if (ranges) return find(db, search, byRanges(ranges));
    const match = matchOf(text);
    return match === null ? NOTHING : find(db, search, { from: "search join cves on cves.key = search.rowid", where: "search match ?", values: [match], rank: "search.rank" });
  };
}

interface Source {
  readonly from: string;
  readonly where: string;
  readonly values: readonly (string | number)[];
  readonly rank: string;
}

function find(db: Sqlite.Database, { cvssMin, order, page, perPage }: CveSearch, { from, where, values, rank }: Source): CveSearchResult {
  const conditions = `${where} and is_rejected = 0${cvssMin === null ? "" : " and cves.score >= ?"}`;
  const all = cvssMin === null ? values : [...values, cvssMin];
  const limit = Math.min(Math.max(Math.trunc(perPage), 1), MAX_PER_PAGE);
  const offset = Math.min((Math.max(Math.trunc(page), 1) - 1) * limit, MAX_OFFSET);
  const total = db.prepare<(string | number)[], number>(`select count(*) from ${from} where ${conditions}`).pluck().get(...all) ?? 0;
  const by = order === "risk" ? "cves.risk desc, cves.key desc" : `${rank}, cves.key desc`;
  const rows = db.prepare<(string | number)[], FoundRow>(
    `select found.key, bodies.description, published, severity, cves.score, kev.key is not null as is_kev, epss.score as epss from `
      + `(select cves.key as key, row_number() over (order by ${by}) as place from ${from} where ${conditions} order by ${by} limit ? offset ?) as found `
      + "join cves on cves.key = found.key join bodies on bodies.key = found.key left join kev on kev.key = found.key left join epss on epss.key = found.key "
      + "order by place",
  ).all(...all, limit, offset);
  return { total, items: rows.map(toFound) };
}

interface FoundRow {
  readonly key: number; readonly description: string; readonly published: number | null; readonly severity: string | null; readonly score: number | null;
  readonly is_kev: number; readonly epss: number | null;
}

function toFound({ key, is_kev: isKev, published, ...row }: FoundRow): FoundCve {
  return { ...row, id: cveIdOf(key), published: published === null ? null : toInstant(published), isKev: isKev === 1 };
}

function byRanges(ranges: readonly KeyRange[]): Source {
  return {
    from: "cves", where: `(${ranges.map(() => "(cves.key >= ? and cves.key < ?)").join(" or ")})`,
    values: ranges.flatMap(({ from, below }) => [from, below]), rank: "cves.key",
  };
}

/** @returns Text as FTS5 takes it: nothing of it is an operator. Null where there is no word in it. */
function matchOf(text: string): string | null {
  const words = text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).slice(0, MAX_WORDS);
  if (words.length === 0) return null;
  const last = words.at(-1) ?? "";
  const phrases = words.map((word) => `"${word.replaceAll('"', '""')}"`).join(" ");
  return `${phrases}${last.length >= MIN_BEGUN_LETTERS ? "*" : ""}`;
}
