import { type Kysely, sql } from "kysely";
import { isPostgres } from "../row-locks.ts";

/** Everything that a collector needs to take in what probes see and to show it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.createTable("tenants")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("last_event_seq", "bigint", (c) => c.notNull().defaultTo(0))
    .addColumn("event_bytes", "bigint", (c) => c.notNull().defaultTo(0))
    .execute();
  await schema.createTable("sites")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull().references("tenants.id"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("probe_configuration", "text", (c) => c.notNull())
    .addColumn("configuration_revision", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("created_at", "text", (c) => c.notNull())
    .addUniqueConstraint("sites_name", ["tenant_id", "name"])
    .execute();
  await schema.createTable("users")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull().references("tenants.id"))
    .addColumn("username", "text", (c) => c.notNull().unique())
    .addColumn("password_hash", "text", (c) => c.notNull())
    .addColumn("role", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("tokens_valid_from", "text", (c) => c.notNull())
    .execute();
  await schema.createTable("revoked_tokens")
    .addColumn("jti", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .execute();
  await schema.createTable("enrollment_tokens")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id"))
    .addColumn("secret_sha256", "text", (c) => c.notNull().unique())
    .addColumn("created_by", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .addColumn("used_at", "text")
    .addColumn("probe_id", "text")
    .execute();
  await schema.createTable("probes")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("enrolled_at", "text", (c) => c.notNull())
    .addColumn("revoked_at", "text")
    .addColumn("certificate_serial", "text", (c) => c.notNull())
    .addColumn("certificate_expires_at", "text", (c) => c.notNull())
    .addColumn("version", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("silent_since", "text")
    .addColumn("last_heard_at", "text")
    .addColumn("run_id", "text")
    .addColumn("health", "text")
    .addColumn("refused", "text", (c) => c.notNull().defaultTo("{}"))
    .execute();
  await schema.createTable("probe_queues")
    .addColumn("probe_id", "text", (c) => c.notNull())
    .addColumn("queue_id", "text", (c) => c.notNull())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("watermark", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("probe_queues_key", ["probe_id", "queue_id"])
    .execute();
  await schema.createTable("devices")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull().references("sites.id"))
    .addColumn("ip", "text", (c) => c.notNull())
    .addColumn("ip_key", "text", (c) => c.notNull())
    .addColumn("mac", "text", (c) => c.notNull())
    .addColumn("hostname", "text", (c) => c.notNull())
    .addColumn("vendor", "text", (c) => c.notNull())
    .addColumn("os_guess", "text", (c) => c.notNull())
    .addColumn("device_type", "text", (c) => c.notNull())
    .addColumn("is_online", "integer", (c) => c.notNull())
    .addColumn("presence_state", "text", (c) => c.notNull())
    .addColumn("first_seen", "text", (c) => c.notNull())
    .addColumn("last_seen", "text", (c) => c.notNull())
    .addColumn("open_ports", "text", (c) => c.notNull())
    .addColumn("tags", "text", (c) => c.notNull())
    .addColumn("locked_fields", "text", (c) => c.notNull())
    .execute();
  for (const field of ["ip_key", "hostname", "vendor", "last_seen"]) {
    await schema.createIndex(`devices_${field}`).on("devices").columns(["tenant_id", field, "id"]).execute();
  }
  await schema.createIndex("devices_site").on("devices").columns(["site_id", "presence_state"]).execute();
  // Everything that a list filters by or searches in, and nothing that changes with every sighting: a filter that matches
  // few devices reads this and not the rows, which is a fifth of the time at 100,000 devices.
  await schema.createIndex("devices_filters").on("devices")
    .columns(["tenant_id", "hostname", "ip", "ip_key", "vendor", "os_guess", "site_id", "is_online", "id"]).execute();
  await countDevices(db);
  await schema.createTable("interfaces")
    .addColumn("device_id", "text", (c) => c.notNull().references("devices.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull())
    .addColumn("mac", "text", (c) => c.notNull())
    .addColumn("vendor", "text", (c) => c.notNull())
    .addColumn("first_seen", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("interfaces_key", ["site_id", "mac"])
    .execute();
  await schema.createIndex("interfaces_device").on("interfaces").column("device_id").execute();
  await schema.createIndex("interfaces_mac").on("interfaces").columns(["tenant_id", "mac", "device_id"]).execute();
  await schema.createTable("addresses")
    .addColumn("device_id", "text", (c) => c.notNull().references("devices.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull())
    .addColumn("mac", "text", (c) => c.notNull())
    .addColumn("ip", "text", (c) => c.notNull())
    .addColumn("ip_key", "text", (c) => c.notNull())
    .addColumn("first_seen", "text", (c) => c.notNull())
    .addColumn("last_seen", "text", (c) => c.notNull())
    .addColumn("current", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("addresses_key", ["device_id", "mac", "ip"])
    .execute();
  await schema.createIndex("addresses_ip").on("addresses").columns(["site_id", "ip"]).execute();
  await schema.createIndex("addresses_search").on("addresses").columns(["tenant_id", "ip", "device_id"]).execute();
  await schema.createTable("ports")
    .addColumn("device_id", "text", (c) => c.notNull().references("devices.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("port", "integer", (c) => c.notNull())
    .addColumn("protocol", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("service", "text", (c) => c.notNull())
    .addColumn("version", "text", (c) => c.notNull())
    .addColumn("banner", "text", (c) => c.notNull())
    .addColumn("last_scanned", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("ports_key", ["device_id", "port", "protocol"])
    .execute();
  await schema.createTable("device_changes")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("device_id", "text", (c) => c.notNull().references("devices.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("field", "text", (c) => c.notNull())
    .addColumn("before", "text", (c) => c.notNull())
    .addColumn("after", "text", (c) => c.notNull())
    .addColumn("source", "text", (c) => c.notNull())
    .execute();
  await schema.createIndex("device_changes_device").on("device_changes").columns(["device_id", "id"]).execute();
  await schema.createTable("evidence")
    .addColumn("device_id", "text", (c) => c.notNull().references("devices.id").onDelete("cascade"))
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("field", "text", (c) => c.notNull())
    .addColumn("value", "text", (c) => c.notNull())
    .addColumn("source", "text", (c) => c.notNull())
    // Of eight bytes in both.
    .addColumn("confidence", isPostgres(db) ? "double precision" : "real", (c) => c.notNull())
    .addColumn("seen_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("evidence_key", ["device_id", "field", "source", "value"])
    .execute();
  await schema.createTable("events")
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("seq", "bigint", (c) => c.notNull())
    .addColumn("id", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("site_id", "text")
    .addColumn("probe_id", "text")
    .addColumn("device_id", "text")
    .addColumn("queue_id", "text")
    .addColumn("probe_seq", "bigint")
    .addColumn("occurred_at", "text", (c) => c.notNull())
    .addColumn("received_at", "text", (c) => c.notNull())
    .addColumn("data", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("events_key", ["tenant_id", "seq"])
    .execute();
  await schema.createTable("rejected_events")
    .addColumn("probe_id", "text", (c) => c.notNull())
    .addColumn("queue_id", "text", (c) => c.notNull())
    .addColumn("probe_seq", "bigint", (c) => c.notNull())
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("received_at", "text", (c) => c.notNull())
    .addColumn("reason", "text", (c) => c.notNull())
    .addColumn("payload", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("rejected_events_key", ["probe_id", "queue_id", "probe_seq"])
    .execute();
}

/** Keeps `device_counts` true whoever writes `devices`: counting 100,000 rows for each list's total took ten times the list. */
async function countDevices(db: Kysely<unknown>): Promise<void> {
  await db.schema.createTable("device_counts")
    .addColumn("tenant_id", "text", (c) => c.notNull())
    .addColumn("site_id", "text", (c) => c.notNull())
    .addColumn("is_online", "integer", (c) => c.notNull())
    .addColumn("devices", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("device_counts_key", ["tenant_id", "site_id", "is_online"])
    .execute();
  if (isPostgres(db)) return countInPostgres(db);
  const one = (row: "old" | "new", by: 1 | -1) => `
    insert into device_counts (tenant_id, site_id, is_online, devices) values (${row}.tenant_id, ${row}.site_id, ${row}.is_online, ${by})
    on conflict (tenant_id, site_id, is_online) do update set devices = devices + excluded.devices;`;
  const changed = "old.tenant_id <> new.tenant_id or old.site_id <> new.site_id or old.is_online <> new.is_online";
  await sql.raw(`create trigger devices_counted_in after insert on devices begin ${one("new", 1)} end`).execute(db);
  await sql.raw(`create trigger devices_counted_out after delete on devices begin ${one("old", -1)} end`).execute(db);
  await sql.raw(`create trigger devices_counted_anew after update of tenant_id, site_id, is_online on devices when ${changed}
    begin ${one("old", -1)} ${one("new", 1)} end`).execute(db);
}

/** Once for each statement, not for each row: a thousand changes of one count in one transaction would be a thousand versions of it. */
async function countInPostgres(db: Kysely<unknown>): Promise<void> {
  const removed = "select tenant_id, site_id, is_online, -1 as by from removed";
  const added = "select tenant_id, site_id, is_online, 1 as by from added";
  const triggers = [
    { name: "devices_counted_in", on: "insert", tables: "new table as added", rows: added },
    { name: "devices_counted_out", on: "delete", tables: "old table as removed", rows: removed },
    { name: "devices_counted_anew", on: "update", tables: "old table as removed new table as added", rows: `${removed} union all ${added}` },
  ];
  for (const { name, on, tables, rows } of triggers) {
    await sql.raw(`create function ${name}() returns trigger language plpgsql as $$ begin
      insert into device_counts (tenant_id, site_id, is_online, devices)
        select tenant_id, site_id, is_online, sum(by) from (${rows}) as changes group by tenant_id, site_id, is_online having sum(by) <> 0
        order by tenant_id, site_id, is_online
        on conflict (tenant_id, site_id, is_online) do update set devices = device_counts.devices + excluded.devices;
      return null; end $$`).execute(db);
    await sql.raw(`create trigger ${name} after ${on} on devices referencing ${tables} for each statement execute function ${name}()`)
      .execute(db);
  }
}
