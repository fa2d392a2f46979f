import { type Expression, type RawBuilder, sql, type SqlBool } from "kysely";

/** Whether `column` holds `text` anywhere, as `holdsLowered` says. */
export function holdsText(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return holdsLowered(sql`lower(${column})`, text);
}

/**
 * Whether a text holds another one anywhere, in any case of its ASCII letters; of other letters in the case that is asked for and in lower
 * case. Its `%` and `_` are letters like others.
 * @param lowered As the database's `lower` makes it: SQLite's leaves all but ASCII as it is.
 */
export function holdsLowered(lowered: Expression<unknown>, text: string): RawBuilder<SqlBool> {
  const holds = lowerForms(text).map((part) => {
    const pattern = `%${part.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
    return sql`${lowered} like ${pattern} escape '\\'`;
  });
  return sql<SqlBool>`(${sql.join(holds, sql` or `)})`;
}

/** What a text that is asked for may be in a database's lower case: one form, or two where it has other letters than ASCII's. */
export function lowerForms(text: string): readonly string[] {
  return [...new Set([text.toLowerCase(), text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())])];
}
