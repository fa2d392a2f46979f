import type Sqlite from "better-sqlite3";

/** A table of the SQLite file that is moved, with its columns in the order of their definition. */
export interface SourceTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** The tables of a file, those first to which others refer; without what is SQLite's, the migrator's and the search's own. */
export function listTables(source: Sqlite.Database): readonly SourceTable[] {
  const names = source.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' and name "
    + "not like 'kysely\\_%' escape '\\' and name not like 'search\\_%' escape '\\' order by name")
    .pluck().all() as string[];
  const parents = new Map(names.map((name) => [name, referredBy(source, name)]));
  const ordered: string[] = [];
  const visit = (name: string, path: readonly string[]) => {
    if (ordered.includes(name) || path.includes(name)) return;
    for (const parent of parents.get(name) ?? []) visit(parent, [...path, name]);
    ordered.push(name);
  };
  for (const name of names) visit(name, []);
  return ordered.map(
    (name) => ({ name, columns: source.prepare("select name from pragma_table_info(?) order by cid").pluck().all(name) as string[] }),
  );
}

function referredBy(source: Sqlite.Database, table: string): readonly string[] {
  return source.prepare('select distinct "table" from pragma_foreign_key_list(?) order by 1').pluck().all(table) as string[];
}
