import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";

/** Every key that the caller may see, without the keys themselves: `KEY` is their first characters. */
export async function listKeys({ rest }: Connection): Promise<Answer> {
  const keys = await collect(rest.listApiKeys);
  return {
    json: keys,
    table: {
      heading: ["NAME", "KEY", "OF", "SCOPES", "LAST USED", "UNTIL", "ID"],
      rows: keys.map((key) => [
        key.name, `${key.hint}…`, key.created_by.username, key.scopes.join(" "), key.last_used_at ?? "never", key.expires_at ?? "-", key.id,
      ]),
    },
  };
}
