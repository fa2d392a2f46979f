import type { Kysely } from "kysely";

/** The time zone of a site, by its name in the IANA database; null where nobody has said it. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable("sites").addColumn("time_zone", "text").execute();
}
