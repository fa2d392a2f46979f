import { type Kysely, sql } from "kysely";
import { isPostgres } from "../row-locks.ts";

/**
 * What a search looks through, one narrow row for each device, kept by triggers whoever writes devices, interfaces and addresses. The
 * indexes of single addresses and MACs, which a search read before, go.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = isPostgres(db) ? sql`text collate "C"` : "text";
  await schema.createTable("device_texts")
    .addColumn("number", isPostgres(db) ? "bigint" : "integer", (c) => (isPostgres(db) ? c.generatedByDefaultAsIdentity() : c).primaryKey())
    .addColumn("tenant_id", text, (c) => c.notNull())
    .addColumn("device_id", text, (c) => c.notNull().unique().references("devices.id").onDelete("cascade").onUpdate("cascade"))
    .addColumn("hostname", text, (c) => c.notNull())
    .addColumn("ips", text, (c) => c.notNull())
    .addColumn("macs", text, (c) => c.notNull())
    .execute();
  const statements = isPostgres(db) ? inPostgres() : inSqlite();
  for (const statement of statements) await sql.raw(statement).execute(db);
  await schema.dropIndex("addresses_search").execute();
  await schema.dropIndex("interfaces_mac").execute();
}

/** The texts of a device: names in lower case, each address on a line, each MAC as twelve digits and with colons. */
const AGGREGATE = { sqlite: "group_concat(line, char(10))", postgres: "string_agg(line, E'\\n' order by line)" } as const;
type Engine = keyof typeof AGGREGATE;

function ipsOf(engine: Engine, device: string): string {
  return `coalesce((select ${AGGREGATE[engine]} from (select distinct lower(ip) as line from addresses where device_id = ${device}
    order by 1) as lines), '')`;
}

function macsOf(engine: Engine, device: string): string {
  const newLine = engine === "sqlite" ? "char(10)" : "E'\\n'";
  return `coalesce((select ${AGGREGATE[engine]} from (select replace(lower(mac), ':', '') || ${newLine} || lower(mac) as line
    from interfaces where device_id = ${device} order by 1) as lines), '')`;
}

/** A part of a device's texts, with the table and column that it comes of. */
const PARTS = [
  { column: "ips", table: "addresses", of: "ip", textOf: ipsOf },
  { column: "macs", table: "interfaces", of: "mac", textOf: macsOf },
] as const;

/**
 * The rows of a tenant are numbered together, so that they are read on end and looked up in the trigram index without those of others:
 * 2^32 from its own number on. In the index a device has four rows: 4 × number, and 1 and 2 more for addresses and MACs.
 */
function inSqlite(): readonly string[] {
  const numbered = (rows: string) => `
    insert into search_tenants (tenant_id) select distinct tenant_id from ${rows}
      where not exists (select 1 from search_tenants as known where known.tenant_id = rows.tenant_id);`;
  const row = `
    insert into device_texts (number, tenant_id, device_id, hostname, ips, macs)
      select coalesce((select max(number) from device_texts where number >= tenant.number << 32 and number < (tenant.number + 1) << 32),
        tenant.number << 32) + 1, new.tenant_id, new.id, lower(new.hostname), ${ipsOf("sqlite", "new.id")}, ${macsOf("sqlite", "new.id")}
      from search_tenants as tenant where tenant.tenant_id = new.tenant_id;`;
  const one = "(select new.tenant_id as tenant_id) as rows";
  return [
    "create table search_tenants (number integer primary key, tenant_id text not null unique)",
    "create virtual table search_index using fts5(text, content='', columnsize=0, detail='none', tokenize='trigram case_sensitive 1')",
    ...indexInSqlite(),
    `create trigger devices_texts_in after insert on devices begin ${numbered(one)} ${row} end`,
    `create trigger devices_texts_renamed after update of hostname on devices when old.hostname <> new.hostname begin
      update device_texts set hostname = lower(new.hostname) where device_id = new.id; end`,
    `create trigger devices_texts_moved after update of tenant_id on devices when old.tenant_id <> new.tenant_id begin
      delete from device_texts where device_id = new.id; ${numbered(one)} ${row} end`,
    ...PARTS.flatMap(({ column, table, of, textOf }) => {
      const renew = (device: string) =>
        `update device_texts set ${column} = ${textOf("sqlite", device)} where device_id = ${device};`;
      return [
        `create trigger ${table}_texts_in after insert on ${table} begin ${renew("new.device_id")} end`,
        `create trigger ${table}_texts_out after delete on ${table} begin ${renew("old.device_id")} end`,
        `create trigger ${table}_texts_changed after update of ${of}, device_id on ${table}
          when old.${of} <> new.${of} or old.device_id <> new.device_id begin ${renew("old.device_id")} ${renew("new.device_id")} end`,
      ];
    }),
    numbered("devices as rows"),
    `insert into device_texts (number, tenant_id, device_id, hostname, ips, macs)
      select (tenant.number << 32) + row_number() over (partition by devices.tenant_id order by devices.id), devices.tenant_id, devices.id,
        lower(hostname), ${ipsOf("sqlite", "devices.id")}, ${macsOf("sqlite", "devices.id")}
      from devices join search_tenants as tenant on tenant.tenant_id = devices.tenant_id order by 1`,
  ];
}

/** What has no three letters has no trigram. The index stores no texts: to remove a row, the trigger passes its old text. */
function indexInSqlite(): readonly string[] {
  const texts = [["hostname", 0, "hostname"], ["ips", 1, "ips"], ["macs", 2, "replace(macs, ':', '')"]] as const;
  const write = (side: "old" | "new", column: string) => texts.filter(([name]) => column === "" || name === column)
    .map(([name, offset, expression]) => {
      const text = expression.replace(name, `${side}.${name}`);
      const [into, first] = side === "old" ? ["search_index, rowid, text", "'delete', "] : ["rowid, text", ""];
      return `insert into search_index (${into}) select ${first}${side}.number * 4 + ${offset}, ${text} where length(${text}) > 2;`;
    }).join(" ");
  return [
    `create trigger device_texts_in after insert on device_texts begin ${write("new", "")} end`,
    `create trigger device_texts_out after delete on device_texts begin ${write("old", "")} end`,
    ...texts.map(([name]) => `create trigger device_texts_${name} after update of ${name} on device_texts when old.${name} <> new.${name}
      begin ${write("old", name)} ${write("new", name)} end`),
  ];
}

/** The trigram index is made at the start, where it may be: see `trigram-index.ts`. */
function inPostgres(): readonly string[] {
  return [
    "create index device_texts_tenant on device_texts (tenant_id)",
    `create function devices_texts_in() returns trigger language plpgsql as $$ begin
      insert into device_texts (tenant_id, device_id, hostname, ips, macs)
        select tenant_id, id, lower(hostname), ${ipsOf("postgres", "added.id")}, ${macsOf("postgres", "added.id")} from added;
      return null; end $$`,
    `create trigger devices_texts_in after insert on devices referencing new table as added
      for each statement execute function devices_texts_in()`,
    `create function devices_texts_renamed() returns trigger language plpgsql as $$ begin
      update device_texts set hostname = lower(new.hostname), tenant_id = new.tenant_id where device_id = new.id;
      return null; end $$`,
    `create trigger devices_texts_renamed after update of hostname, tenant_id on devices for each row
      when (old.hostname <> new.hostname or old.tenant_id <> new.tenant_id) execute function devices_texts_renamed()`,
    ...PARTS.flatMap(({ column, table, of, textOf }) => {
      const renew = (which: string) => `update device_texts set ${column} = ${textOf("postgres", "device_texts.device_id")}
        where device_id in (${which});`;
      return [
        `create function ${table}_texts_in() returns trigger language plpgsql as $$ begin
          ${renew("select device_id from added")} return null; end $$`,
        `create function ${table}_texts_out() returns trigger language plpgsql as $$ begin
          ${renew("select device_id from removed")} return null; end $$`,
        `create function ${table}_texts_changed() returns trigger language plpgsql as $$ begin
          ${renew("old.device_id, new.device_id")} return null; end $$`,
        `create trigger ${table}_texts_in after insert on ${table} referencing new table as added
          for each statement execute function ${table}_texts_in()`,
        `create trigger ${table}_texts_out after delete on ${table} referencing old table as removed
          for each statement execute function ${table}_texts_out()`,
        `create trigger ${table}_texts_changed after update of ${of}, device_id on ${table} for each row
          when (old.${of} <> new.${of} or old.device_id <> new.device_id) execute function ${table}_texts_changed()`,
      ];
    }),
    `insert into device_texts (tenant_id, device_id, hostname, ips, macs) select tenant_id, id, lower(hostname),
      ${ipsOf("postgres", "devices.id")}, ${macsOf("postgres", "devices.id")} from devices order by tenant_id, id`,
  ];
}
