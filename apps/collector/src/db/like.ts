import { type Expression, sql, type SqlBool } from "kysely";

/** Whether `column` holds `text` anywhere, in any case of its ASCII letters. The text's own `%` and `_` are letters like others. */
export function holdsText(column: Expression<string>, text: string): Expression<SqlBool> {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql<SqlBool>`lower(${column}) like ${pattern} escape '\\'`;
}
