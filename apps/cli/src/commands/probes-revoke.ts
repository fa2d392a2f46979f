import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";

/** Ends a probe's certificate and its session at once. */
export async function revokeProbe({ rest }: Connection, id: string): Promise<Answer> {
  await rest.revokeProbe(id);
  return { json: { id, state: "revoked" }, text: `revoked ${id}; its session is closed; enroll it again to use it` };
}
