import type Sqlite from "better-sqlite3";

/** In the file's header, so that no other program's file is taken for one of these: "LCVE". */
const APPLICATION_ID = 0x4c_43_56_45;
/** One that is written differently is not read: it is built again from the feeds. */
export const SCHEMA_VERSION = 2;
/** Descriptions and statements are hundreds of bytes to some kilobytes; larger pages waste less of them. */
const PAGE_BYTES = 8192;
/** FTS5 merges what it has in memory into a segment at this size: one of 1 MB each, as by default, would be merged again and again. */
const SEARCH_HASH_BYTES = 16 * 1024 * 1024;

/**
 * Keys are those of `cveKey`, moments milliseconds since the epoch. `nvd_modified` and `list_modified` are what each feed says of its own record of a CVE, null
 * where it has none. What is read for a whole result (`cves`) lies apart from what is read for one CVE (`bodies`).
 *
 * ATT&CK's relationships name techniques and mitigations by their `object` in its bundle. Weaknesses lead to techniques by way of attack patterns; a `source` is the name of a feed.
 *
 * A `place` is twice the key, and one more for NVD's statements. `risk` orders by known exploitation, then EPSS, then CVSS, and `changed` is the generation in which matching has to look at a CVE again.
 */
const TABLES = `
create table facts (name text primary key, value text not null) without rowid;
create table feeds (kind text not null, name text not null, imported_at integer not null, octets integer not null, records integer not null,
  refused integer not null, primary key (kind, name)) without rowid;
create table cves (key integer primary key, nvd_modified integer, list_modified integer, published integer, is_rejected integer not null,
  has_statements integer not null, score real, severity text, risk integer not null default 0, changed integer not null);
create table bodies (key integer primary key, description text not null, metrics text not null, weaknesses text not null, links text not null);
create table statements (place integer primary key, packed text not null);
create table products (id integer primary key, vendor text not null, product text not null, unique (vendor, product));
create table affected (product integer not null, key integer not null, primary key (product, key)) without rowid;
create table kev (key integer primary key, entry text not null);
create table epss (key integer primary key, score real not null, percentile real not null);
create table techniques (id text primary key, name text not null, tactics text not null, object text not null, is_retired integer not null) without rowid;
create table mitigations (object text primary key, id text not null, name text not null) without rowid;
create table mitigation_uses (technique text not null, mitigation text not null, text text not null, primary key (technique, mitigation)) without rowid;
create table cve_techniques (key integer not null, technique text not null, kind text not null, source text not null,
  primary key (key, technique, kind, source)) without rowid;
create table weakness_patterns (weakness text not null, pattern text not null, source text not null, primary key (weakness, pattern, source)) without rowid;
create table pattern_techniques (pattern text not null, technique text not null, source text not null, primary key (pattern, technique, source)) without rowid;
create table fixes (distribution text not null, package text not null, key integer not null, release text not null, status text not null,
  fixed_version text not null, urgency text not null, source text not null, primary key (distribution, package, key, release)) without rowid;
create virtual table search using fts5(description, content='bodies', content_rowid='key');
insert into search (search, rank) values ('hashsize', ${SEARCH_HASH_BYTES});
`;

/** Made when a whole database is filled, which is faster than keeping them up row by row. */
const INDEXES = `
create index if not exists cves_changed on cves (changed, key);
create index if not exists fixes_key on fixes (key);
`;

/** Makes the tables in an empty file. */
export function createSchema(db: Sqlite.Database): void {
  db.pragma(`page_size = ${PAGE_BYTES}`);
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.pragma(`user_version = ${SCHEMA_VERSION}`);
  db.exec(TABLES);
}

/** Makes the indexes that are not there yet. */
export function createIndexes(db: Sqlite.Database): void {
  db.exec(INDEXES);
}

/** Whether a file was written by this version of this program. */
export function isOurs(db: Sqlite.Database): boolean {
  return db.pragma("application_id", { simple: true }) === APPLICATION_ID && db.pragma("user_version", { simple: true }) === SCHEMA_VERSION;
}
