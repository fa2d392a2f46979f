import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Sqlite from "better-sqlite3";
import { type Migration, sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { testLocation } from "../../testing/database.ts";
import { insertMany } from "../query/write-many.ts";
import type { PostgresLocation } from "../location.ts";
import { MIGRATIONS } from "../migrations/table.ts";
import { type MovedTable, moveDatabase } from "./move.ts";
import { type Database, openDatabase } from "../open.ts";
import { isPostgres } from "../row-locks.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const AT = "2026-01-01T00:00:00.000Z";
let directory = "";
let file = "";
let to: PostgresLocation;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-move-"));
  file = join(directory, "lanthorn.db");
  to = (await testLocation(randomUUID(), { isBlank: true })) as PostgresLocation;
});
afterEach(() => rmSync(directory, { recursive: true }));

const numbered: Readonly<Record<string, Migration>> = {
  ...MIGRATIONS,
  "9999-numbered": {
    async up(db) {
      await db.schema.createTable("numbered")
        .addColumn(
          "id", "integer", (c) => (isPostgres(db) ? c.generatedByDefaultAsIdentity().primaryKey() : c.autoIncrement().primaryKey()),
        )
        .addColumn("bytes", isPostgres(db) ? "bytea" : "blob").execute();
    },
  },
};

const TEXTS = ["", "a", "É中😀", "'; drop table devices; --", "line\nline", "with\0nul", "\\N", "\t", "NULL"];

/** Two tenants, a site each, devices and what hangs on them, in a file. */
async function fill({ db }: Pick<Database, "db">, devices: number): Promise<void> {
  for (const tenant of ["t1", "t2"]) {
    await db.insertInto("tenants").values({
      id: tenant, name: tenant, created_at: AT, last_event_seq: 2 ** 40, event_bytes: Number.MAX_SAFE_INTEGER,
    }).execute();
    await db.insertInto("sites").values({
      id: `${tenant}-site`, tenant_id: tenant, name: "site", probe_configuration: "{}", created_at: AT,
    }).execute();
  }
  const ids = Array.from({ length: devices }, (_, index) => `d${index}`);
  await db.transaction().execute(async (trx) => {
    await insertMany(trx, "devices", ids.map((id, index) => ({
      id, tenant_id: "t1", site_id: "t1-site", ip: `192.0.2.${index % 250}`, ip_key: "", mac: "",
      hostname: TEXTS[index % TEXTS.length] as string, hostname_key: "", vendor: "", os_guess: "",
      device_type: "", is_online: index % 2, presence_state: "online", first_seen: AT, last_seen: AT, open_ports: "[]", tags: '["a"]',
      locked_fields: "[]",
    })));
    await insertMany(trx, "evidence", ids.map((id, index) => ({
      device_id: id, tenant_id: "t1", field: "hostname", value: `${index}`, source: "dhcp", confidence: index / 7, seen_at: AT,
    })));
  });
}

const move = (options?: Parameters<typeof moveDatabase>[2]) => moveDatabase({ file }, to, options);
const inTarget = async <T>(look: (database: Database) => Promise<T>, migrations = MIGRATIONS): Promise<T> => {
  const database = await openDatabase({ ...to, migrations });
  try {
    return await look(database);
  } finally {
    await database.close();
  }
};

describe("a deployment that is moved to PostgreSQL", () => {
  test("has every row there as it was, counted and with its checksum, and goes on from there", async () => {
    const source = await openDatabase({ file });
    await fill(source, 3210);
    const devices = await source.reads.selectFrom("devices").selectAll().orderBy("id").execute();
    const counts = await source.reads.selectFrom("device_counts").selectAll().orderBy("is_online").execute();
    const names = (await source.reads.introspection.getTables()).map(({ name }) => name).filter((name) => !/^(kysely|search)_/.test(name))
      .toSorted();
    await source.close();
    const before = readFileSync(file);
    const reported: MovedTable[] = [];
    const tables = await move({ moved: (table) => void reported.push(table) });
    expect(reported).toEqual(tables);
    expect(tables.map(({ table }) => table).toSorted()).toEqual(names);
    expect(tables.find(({ table }) => table === "devices")).toEqual({
      table: "devices", rows: 3210, checksum: expect.stringMatching(/^[0-9a-f]{32}$/) as string, replaced: 357,
    });
    const indexOf = (name: string) => tables.findIndex(({ table }) => table === name);
    expect(
      indexOf("tenants") < indexOf("sites") && indexOf("sites") < indexOf("devices") && indexOf("devices") < indexOf("evidence"),
    ).toBe(true);
    await inTarget(async ({ db, reads }) => {
      const arrived = await reads.selectFrom("devices").selectAll().orderBy("id").execute();
      expect(arrived).toEqual(devices.map((device) => ({ ...device, hostname: device.hostname.replaceAll("\0", "\u{FFFD}") })));
      expect(await reads.selectFrom("device_counts").selectAll().orderBy("is_online").execute()).toEqual(counts);
      expect(await reads.selectFrom("tenants").select(["last_event_seq", "event_bytes"]).execute()).toEqual(
        [1, 2].map(() => ({ last_event_seq: 2 ** 40, event_bytes: Number.MAX_SAFE_INTEGER })),
      );
      expect(
        (await reads.selectFrom("evidence").select("confidence").where("device_id", "=", "d1").executeTakeFirstOrThrow()).confidence,
      ).toBe(1 / 7);
      // Triggers work again.
      await db.deleteFrom("devices").where("id", "=", "d0").execute();
      await insertMany(db, "devices", [{ ...(devices[1] as (typeof devices)[number]), id: "new", hostname: "New" }]);
      const texts = await reads.selectFrom("device_texts").select(["device_id", "hostname"]).orderBy("number").execute();
      expect([texts.length, texts.at(-1)]).toEqual([3210, { device_id: "new", hostname: "new" }]);
      await db.deleteFrom("devices").where("id", "=", "new").execute();
      expect((await reads.selectFrom("device_counts").select("devices").where("is_online", "=", 0).executeTakeFirst())?.devices).toBe(1604);
    });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("gives out numbers after the greatest that came, and keeps bytes", async () => {
    const source = await openDatabase({ file, migrations: numbered });
    await sql`insert into numbered (id, bytes) values (1, x'00ff'), (41, null)`.execute(source.db);
    await source.close();
    await move({ migrations: numbered });
    await inTarget(async ({ db }) => {
      await sql`insert into numbered (bytes) values (null)`.execute(db);
      expect((await sql`select id, encode(bytes, 'hex') as bytes from numbered order by id`.execute(db)).rows)
        .toEqual([{ id: 1, bytes: "00ff" }, { id: 41, bytes: null }, { id: 42, bytes: null }]);
    }, numbered);
  });

  test("is not moved while a collector has the file open, from another version's, from no database, or a second time", async () => {
    await expect(move()).rejects.toMatchObject({ code: "move-refused", message: `there is no database ${file}` });
    const source = await openDatabase({ file });
    await fill(source, 1);
    await expect(move()).rejects.toMatchObject({ code: "move-refused", message: expect.stringContaining("stop the collector") as string });
    await source.close();
    await expect(move({ migrations: numbered })).rejects.toMatchObject({
      code: "move-refused", message: expect.stringContaining("older version") as string,
    });
    const { "0001-first": first } = MIGRATIONS;
    await expect(move({ migrations: { "0001-first": first as Migration } })).rejects.toMatchObject({
      code: "move-refused", message: expect.stringContaining("newer version") as string,
    });
    new Sqlite(join(directory, "other.db")).exec("create table x (y)").close();
    await expect(moveDatabase({ file: join(directory, "other.db") }, to)).rejects.toMatchObject({
      code: "move-refused", message: expect.stringContaining("not a collector's database") as string,
    });
    await move();
    await expect(move()).rejects.toMatchObject({ code: "move-refused", message: expect.stringContaining("is not empty") as string });
  });

  test("is not mixed with what somebody else keeps there", async () => {
    await (await openDatabase({ file })).close();
    await inTarget(async ({ db }) => {
      await sql`create table theirs (x text)`.execute(db);
    }, {});
    await expect(move()).rejects.toMatchObject({ code: "move-refused", message: expect.stringContaining("theirs") as string });
  });

  test("that does not arrive whole leaves no row behind, and can be moved again", async () => {
    const source = await openDatabase({ file });
    await fill(source, 700);
    await source.close();
    const edit = (text: string) => {
      const connection = new Sqlite(file);
      connection.pragma("foreign_keys = OFF");
      connection.exec(text);
      connection.close();
    };
    // SQLite takes a text for a number where it cannot read one.
    edit("update evidence set confidence = 'much' where device_id = 'd699'");
    await expect(move()).rejects.toMatchObject({ code: "move-refused", message: expect.stringContaining("evidence") as string });
    await inTarget(async ({ reads }) => expect(await reads.selectFrom("tenants").selectAll().execute()).toEqual([]));
    edit("update evidence set confidence = 0.5 where device_id = 'd699'");
    expect((await move()).find(({ table }) => table === "devices")?.rows).toBe(700);
  });

  test("is moved by the command, which shows no password", async () => {
    const source = await openDatabase({ file });
    await fill(source, 3);
    await source.close();
    const url = to.url.replace("lanthorn@", "lanthorn:hunter2@");
    const run = (...args: readonly string[]) => promisify(execFile)(
      process.execPath, [MAIN, "migrate", ...args],
      { env: { PATH: process.env["PATH"] } },
    );
    const { stdout } = await run("--from", `sqlite:${file}`, "--to", url);
    expect(stdout).toMatch(/^devices {2}3 rows {2}[0-9a-f]{32}$/m);
    expect(stdout).not.toContain("hunter2");
    await expect(run("--from", `sqlite:${file}`, "--to", url)).rejects.toMatchObject({
      code: 1, stderr: expect.stringMatching(/is not empty(?!.*hunter2)/s) as string,
    });
    await expect(run("--from", url, "--to", url)).rejects.toMatchObject({
      code: 1, stderr: expect.stringMatching(/--from: sqlite:(?!.*hunter2)/s) as string,
    });
  });
});
