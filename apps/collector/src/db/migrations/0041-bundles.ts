import type { Kysely } from "kysely";

/** Bundles of files for probes: each one's newest version, signed; which parts it has; and pieces of the parts of all of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("bundles")
    .addColumn("name", "text", (c) => c.primaryKey())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("manifest", "text", (c) => c.notNull())
    .addColumn("signature", "text", (c) => c.notNull())
    .addColumn("certificate", "text", (c) => c.notNull())
    .addColumn("parts", "integer", (c) => c.notNull())
    .addColumn("bytes", "integer", (c) => c.notNull())
    .addColumn("published_at", "text", (c) => c.notNull())
    .execute();
  await schema.createTable("bundle_parts")
    .addColumn("name", "text", (c) => c.notNull().references("bundles.name").onDelete("cascade"))
    .addColumn("sha256", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("bundle_parts_key", ["name", "sha256"])
    .execute();
  await schema.createTable("bundle_pieces")
    .addColumn("sha256", "text", (c) => c.notNull())
    .addColumn("piece", "integer", (c) => c.notNull())
    .addColumn("content", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("bundle_pieces_key", ["sha256", "piece"])
    .execute();
}
