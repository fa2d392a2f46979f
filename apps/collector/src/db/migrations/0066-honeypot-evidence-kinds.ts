import { type Kysely } from "kysely";

/** The newest transcripts of a site are found without the other evidence, and how long each of a session's is without reading it. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createIndex("honeypot_evidence_kind").on("honeypot_evidence").columns(["site_id", "kind", "id"]).execute();
  await schema.dropIndex("honeypot_evidence_session").execute();
  await schema.createIndex("honeypot_evidence_octets").on("honeypot_evidence").columns(["session_key", "kind", "id", "octets"]).execute();
}
