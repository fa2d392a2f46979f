import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";

/** Ends an API key at once. */
export async function revokeKey({ rest }: Connection, id: string): Promise<Answer> {
  await rest.revokeApiKey(id);
  return { json: { id, state: "revoked" }, text: `revoked ${id}` };
}
