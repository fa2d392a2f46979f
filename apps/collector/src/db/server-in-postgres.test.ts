import { randomUUID } from "node:crypto";
import { createServer } from "node:net";
import { sql } from "kysely";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMatches } from "../services/devices/store/matches.ts";
import { createReadPage } from "../services/devices/store/pages.ts";
import { testLocation } from "../testing/database.ts";
import type { PostgresLocation } from "./location.ts";
import { type Database, openDatabase } from "./open.ts";
import { TRIGRAM_INDEX } from "./keys/trigram-index.ts";
import { insertMany } from "./query/write-many.ts";

const AT = "2026-01-01T00:00:00.000Z";
let location: PostgresLocation;
const opened: Database[] = [];
beforeEach(async () => {
  location = (await testLocation(randomUUID(), { isBlank: true })) as PostgresLocation;
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ close }) => close()));
});

async function open(options: Partial<PostgresLocation> = {}): Promise<Database> {
  const database = await openDatabase({ ...location, ...options });
  opened.push(database);
  return database;
}

/** What ends the connections of a pool, as a server that is restarted does. */
async function endConnections(by: Database): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    .execute(by.reads);
}

describe("a PostgreSQL database", () => {
  test("is brought up to date by one of many that start at once", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => open()));
    expect(await all[7]?.reads.selectFrom("tenants").selectAll().execute()).toEqual([]);
  });

  test("commits to the disk and gives up what takes too long", async () => {
    const { db, reads } = await open({ statementTimeoutSeconds: 1 });
    const settings = async (from: typeof db) => (await sql`
      select current_setting('synchronous_commit') as commits, current_setting('statement_timeout') as timeout, current_setting('default_transaction_read_only') as reads
    `.execute(from)).rows[0];
    expect(await settings(db)).toEqual({ commits: "on", timeout: "1s", reads: "off" });
    expect(await settings(reads)).toEqual({ commits: "on", timeout: "1s", reads: "on" });
    await expect(sql`select pg_sleep(10)`.execute(reads)).rejects.toMatchObject({ code: "57014" });
  });

  test("gives numbers as numbers", async () => {
    const { reads } = await open();
    const { rows } =
      await sql`select 9007199254740991::bigint as big, sum(v) as sum, count(*) as count, 0.1::float8 as part from (values (1::bigint), (2)) as t(v)`
        .execute(reads);
    expect(rows).toEqual([{ big: Number.MAX_SAFE_INTEGER, sum: 3, count: 2, part: 0.1 }]);
  });

  test("goes on after a later version has changed a table under a statement that it keeps parsed", async () => {
    const [database, other] = [await open({ poolSize: 1 }), await open()];
    const read = () => database.db.selectFrom("tenants").selectAll().where("id", "=", "a").execute();
    for (let index = 0; index < 3; index += 1) expect(await read()).toEqual([]);
    const { rows } =
      await sql<{ kept: number }>`select count(*) as kept from pg_prepared_statements where statement like '%"tenants"%'`
        .execute(database.db);
    expect(rows).toEqual([{ kept: 1 }]);
    await sql`alter table tenants add column later text`.execute(other.db);
    await expect(read()).rejects.toMatchObject({ code: "database-unreachable" });
    expect(await read()).toEqual([]);
  });

  test("is used again after its connections were ended, within a transaction too, and the process lives", async () => {
    const [database, other] = [await open(), await open()];
    const add = (id: string) => database.db.insertInto("tenants").values({ id, name: id, created_at: AT }).execute();
    await add("a");
    await expect(database.db.transaction().execute(async (trx) => {
      await trx.insertInto("tenants").values({ id: "b", name: "b", created_at: AT }).execute();
      await endConnections(other);
      await trx.insertInto("tenants").values({ id: "c", name: "c", created_at: AT }).execute();
    })).rejects.toThrow();
    await expect.poll(() => add("d").then(() => true, () => false)).toBe(true);
    expect(await database.reads.selectFrom("tenants").select("id").orderBy("id").execute()).toEqual([{ id: "a" }, { id: "d" }]);
  });

  test("does not pass for committed what was undone", async () => {
    const { db, reads } = await open();
    await expect(db.transaction().execute(async (trx) => {
      await trx.insertInto("tenants").values({ id: "a", name: "a", created_at: AT }).execute();
      await sql`select 1 / 0`.execute(trx).catch(() => {});
    })).rejects.toThrow("was undone");
    expect(await reads.selectFrom("tenants").select("id").execute()).toEqual([]);
  });

  test("has an index for search, also where somebody has put the extension into a schema of its own", async () => {
    const indexes = async ({ reads }: Database) => (await sql`select indexname as name from pg_indexes where indexname = ${TRIGRAM_INDEX}`
      .execute(reads)).rows;
    const database = await open();
    expect([database.advice, await indexes(database)]).toEqual([null, [{ name: TRIGRAM_INDEX }]]);
    await sql.raw(`drop extension pg_trgm cascade; create schema elsewhere; create extension pg_trgm schema elsewhere`).execute(database.db);
    const again = await open();
    expect([again.advice, await indexes(again)]).toEqual([null, [{ name: TRIGRAM_INDEX }]]);
  });

  test("that may not have the extension is searched without an index, says so, and has it once somebody has made the extension", async () => {
    const admin = new Client({ connectionString: location.url });
    await admin.connect();
    try {
      const name = new URL(location.url).pathname.slice(1);
      await admin.query(`revoke create on database "${name}" from current_user`);
      const indexes = async ({ reads }: Database) => (await sql`select 1 as one from pg_indexes where indexname = ${TRIGRAM_INDEX}`
        .execute(reads)).rows.length;
      const bare = await open();
      expect([bare.advice, await indexes(bare)]).toEqual([expect.stringContaining("create extension pg_trgm"), 0]);
      await bare.db.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
      await bare.db.insertInto("sites").values({ id: "s", tenant_id: "t", name: "s", probe_configuration: "{}", created_at: AT }).execute();
      const named = { id: "d", tenant_id: "t", site_id: "s", ip: "", ip_key: "", mac: "", hostname: "Printer", hostname_key: "printer", vendor: "", os_guess: "" };
      const seen = { device_type: "", is_online: 0, presence_state: "", first_seen: AT, last_seen: AT };
      await insertMany(bare.db, "devices", [{ ...named, ...seen, open_ports: "[]", tags: "[]", locked_fields: "[]" }]);
      const page = { field: "ip", descending: false, limit: 10, from: 0 } as const;
      expect((await createReadPage(bare.reads, createMatches(bare.reads))("t", { search: "PRINT" }, page)).rows.map(({ id }) => id)).toEqual(["d"]);
      await admin.query(`grant create on database "${name}" to current_user; create extension pg_trgm`);
      const helped = await open();
      expect([helped.advice, await indexes(helped)]).toEqual([null, 1]);
    } finally {
      await admin.end();
    }
  });

  test("that cannot be reached, or will not do, stops the start and says why, without a password", async () => {
    const silent = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await new Promise((resolve) => {
      silent.once("listening", resolve);
    });
    const { port } = silent.address() as { readonly port: number };
    for (const at of [port, 1]) {
      await expect(openDatabase({ url: `postgres://user:secret@127.0.0.1:${at}/name` })).rejects.toMatchObject({
        code: "database-unreachable", message: `cannot reach PostgreSQL at 127.0.0.1:${at}/name: start it, or correct database.url`,
      });
    }
    silent.close();
    const none = new URL(location.url);
    none.pathname = "/none";
    await expect(openDatabase({ url: none.href })).rejects.toMatchObject({
      code: "database-unsuitable", message: expect.stringContaining("does not exist") as string,
    });
    none.pathname = "/postgres";
    await expect(openDatabase({ url: none.href })).rejects.toMatchObject({
      code: "database-unsuitable", message: expect.stringContaining("may not create tables") as string,
    });
  });
});
