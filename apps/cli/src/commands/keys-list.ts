import { readAll } from "@lanthorn/client";
import type { ApiKey } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";

export async function listKeys({ rest }: Connection): Promise<Answer> {
  const keys: ApiKey[] = [];
  for await (const key of readAll(rest.listApiKeys)) keys.push(key);
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
