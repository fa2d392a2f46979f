import { chmodSync, createReadStream, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "@lanthorn/runtime";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PostgresLocation } from "../db/location.ts";
import { type Database, openDatabase } from "../db/open.ts";
import { testLocation } from "../testing/database.ts";
import { findPostgresPrograms } from "../../../../test/lab/postgres.ts";
import { createDatabaseTools } from "./database-tools.ts";
import { databaseOf, withDatabase } from "./postgres/libpq.ts";
import { doBackupJob } from "./job.ts";
import type { ProgramsSettings } from "./postgres/programs.ts";
import { createScratch, scratchComment } from "./postgres/scratch.ts";
import { openSession, type PostgresSession } from "./postgres/session.ts";
import { unpackBackup } from "./read-backup.ts";
import { restoreBackup } from "./restore/restore.ts";
import { createKeys, type SampleKeys } from "./testing/sample.ts";
import { createSigner, generateSigningKey } from "./format/signing.ts";
import { writeBackup } from "./write-backup.ts";

const AT = "2026-01-01T00:00:00.000Z";
const STAMP = "20260101T000000Z";
const signingKey = generateSigningKey();
const signer = createSigner(signingKey);
let folder: string;
let location: PostgresLocation;
let postgres: ProgramsSettings;
let keys: SampleKeys;
let database: Database;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-backup-"));
  location = (await testLocation(folder, { isBlank: true })) as PostgresLocation;
  const programs = await findPostgresPrograms();
  postgres = { folder: programs.folder, environment: { PATH: "/usr/bin:/bin", ...programs.env } };
  keys = await createKeys();
  for (const name of ["data", "backups"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "data", "sealing-key"), "the key\n");
  database = await openDatabase(location);
  await addTenants(100);
});
afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const addTenants = async (count: number) => {
  const rows = Array.from({ length: count }, () => createId()).map((id) => ({ id, name: `tenant ${id} É中😀`, created_at: AT }));
  await database.db.insertInto("tenants").values(rows).execute();
};
const order = (changes: object = {}) => ({
  id: createId(), version: "1", createdAt: AT, dataDir: join(folder, "data"), database: location, secrets: {}, recipients: keys.recipients,
  directory: join(folder, "backups"), name: "backup.age", includeKeys: true, signer, ...changes,
});
const write = (settings = postgres, changes: object = {}) => writeBackup(order(changes), createDatabaseTools(location, settings));
const file = () => join(folder, "backups", "backup.age");
const unpack = (from: PostgresLocation = location) => unpackBackup(
  createReadStream(file()), { opener: { identities: keys.identities }, trust: { signer: signer.publicKey } }, mkdtempSync(join(folder, "unpacked-")),
  createDatabaseTools(from, postgres),
);
const ask = async (text: string, at: PostgresLocation = location) => {
  const session = await openSession(at.url);
  try {
    return await session.ask(text);
  } finally {
    await session.close();
  }
};
/** Those of this test's own database: others run on the same server meanwhile. @returns By name, the comment of each. */
const scratchesOf = async (at: PostgresLocation): Promise<ReadonlyMap<string, string>> => {
  const found = await ask(`
    select datname as name, shobj_description(oid, 'pg_database') as comment from pg_database
    where strpos(shobj_description(oid, 'pg_database'), '"${databaseOf(at.url)}"') > 0`);
  return new Map(found.map(({ name = "", comment = "" }) => [name, comment]));
};
const scratches = async () => (await scratchesOf(location)).size;

/** A database with this one's connection to it; made again where a backup of another test has dropped it before that. */
const createUsed = async (name: string): Promise<PostgresSession> => {
  for (;;) {
    await ask(`create database ${name}`);
    const session = await openSession(withDatabase(location.url, name)).catch(() => null);
    if (session) return session;
  }
};

describe("a backup of a PostgreSQL database", () => {
  test("is read back into a database of its own, counted, and leaves none behind", async () => {
    const written = await write();
    expect([readdirSync(join(folder, "backups")), await scratches()]).toEqual([["backup.age"], 0]);
    const { manifest, databaseFile, files } = await unpack();
    expect(manifest.database).toMatchObject({ engine: "postgres", tables: { tenants: 100, sites: 0 } });
    expect(Object.keys(manifest.database.tables)).toHaveLength(written.tables);
    expect(manifest.database.migrations).toContain("0001-first");
    expect(readFileSync(databaseFile).subarray(0, 5).toString()).toBe("PGDMP");
    expect(files.map(({ name }) => name)).toEqual(["sealing-key"]);
    expect(await scratches()).toBe(0);
  });

  test("is counted in a database whose comment says what it is, until it has the place of another", async () => {
    const admin = await openSession(location.url);
    const scratch = await createScratch(admin, location.url);
    expect([...(await scratchesOf(location))]).toEqual([[scratch.name, scratchComment(scratch.name, databaseOf(location.url))]]);
    expect(scratchComment("it's", 'a"b')).toContain('drop database "it\'s";');
    await scratch.close();
    await admin.close();
    expect(await scratches()).toBe(0);
  });

  test("is of one moment while others write", async () => {
    let written = 0;
    const done = new AbortController();
    const writer = (async () => {
      for (; !done.signal.aborted; written += 1) await addTenants(1);
    })();
    await write();
    done.abort();
    await writer;
    expect(written).toBeGreaterThan(0);
    expect((await unpack()).manifest.database.tables["tenants"]).toBeGreaterThanOrEqual(100);
  });

  test("takes along views and functions that somebody has made beside the tables", async () => {
    await sql`create view named as select name from tenants`.execute(database.db);
    await sql`create function answer() returns int language sql as 'select 42'`.execute(database.db);
    await write();
    await expect(unpack()).resolves.toMatchObject({ manifest: { database: { engine: "postgres" } } });
  });

  test("fails in words where pg_dump is missing, or older than the server", async () => {
    mkdirSync(join(folder, "none"));
    await expect(write({ folder: join(folder, "none") })).rejects.toMatchObject({
      code: "backup-failed",
      message: "pg_dump is not installed: install postgresql-client-15 or later, or set backups.postgres_bin to its directory",
    });
    const old = join(folder, "old");
    mkdirSync(old);
    writeFileSync(join(old, "pg_dump"), "#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.24'\n");
    chmodSync(join(old, "pg_dump"), 0o755);
    await expect(write({ folder: old })).rejects.toMatchObject({
      code: "backup-failed",
      message: expect.stringMatching(
        /^pg_dump is of version 9, older than the server's \d+: install postgresql-client-\d+ or later/,
      ) as string,
    });
    expect(readdirSync(join(folder, "backups"))).toEqual([]);
  });

  test("fails in words where the user may make no database to count it in", async () => {
    const admin = await openSession(location.url);
    // The tests' own user may, and may not make another one that may not.
    const refusing: PostgresSession = {
      ...admin,
      ask: (text, values) => (text.startsWith("create database") ? Promise.reject(Object.assign(
        new Error("permission denied"), { code: "42501" },
      )) : admin.ask(text, values)),
    };
    await expect(createScratch(refusing, location.url)).rejects.toMatchObject({
      code: "backup-failed", message: expect.stringContaining('alter role "lanthorn" createdb') as string,
    });
    await admin.close();
  });

  test("that ends in the middle of its dump, or has another one's rows, is not whole", async () => {
    await write();
    const { databaseFile } = await unpack();
    const cut = join(folder, "cut");
    const bytes = readFileSync(databaseFile);
    const tools = createDatabaseTools(location, postgres);
    writeFileSync(cut, bytes.subarray(0, bytes.length - 200));
    await expect(tools.check(cut)).rejects.toMatchObject({
      code: "backup-unreadable", message: expect.stringContaining("pg_restore") as string,
    });
    writeFileSync(cut, "no dump at all");
    await expect(tools.check(cut)).rejects.toMatchObject({ code: "backup-unreadable" });
    writeFileSync(cut, "");
    await expect(tools.check(cut)).rejects.toMatchObject({ code: "backup-unreadable" });
    expect(await scratches()).toBe(0);
  });

  test("clears away the scratch database of a process that was killed, and leaves one in use", async () => {
    const [left, used] = ["left", "used"].map((name) => `lanthorn_scratch_${name}_${createId().replaceAll("-", "")}`) as [string, string];
    // One that another deployment of this server has just made, and has not yet connected to; and one of an hour ago.
    const id = createId().replaceAll("-", "");
    const made = `lanthorn_scratch_${id}`;
    const forgotten = `lanthorn_scratch_${(Number.parseInt(id.slice(0, 12), 16) - 3_600_000).toString(16).padStart(12, "0")}${id.slice(12)}`;
    for (const name of [left, made, forgotten]) await ask(`create database ${name}`);
    const session = await createUsed(used);
    await write();
    const names = new Set((await ask("select datname as name from pg_database")).map(({ name }) => name));
    expect([left, used, made, forgotten].map((name) => names.has(name))).toEqual([false, true, true, false]);
    await session.close();
    for (const name of [used, made]) await ask(`drop database if exists ${name}`);
  });

  test("is verified as a job, which does not look into a file that was changed", async () => {
    const { sha256 } = await write();
    const job = {
      kind: "restore", id: createId(), file: file(), directory: join(folder, "backups"), database: location, identities: keys.identity,
      postgresBin: postgres.folder, sha256,
    } as const;
    await expect(doBackupJob(job, postgres.environment)).resolves.toMatchObject({ sha256 });
    writeFileSync(file(), "something else");
    expect((await doBackupJob(job, postgres.environment)).sha256).not.toBe(sha256);
  });
});

describe("a restore into PostgreSQL", () => {
  const restore = (changes: object = {}) => restoreBackup({
    file: file(), identities: keys.identities, dataDir: join(folder, "restored"), database: location, postgres, force: false, stamp: STAMP,
    trust: { signer: signer.publicKey }, keysFolder: null, configuredKeys: [],
    ...changes,
  });
  const tenants = async (at = location) => (await ask("select count(*) as rows from tenants", at))[0]?.["rows"];

  test("refuses while anybody is connected, and over what is there", async () => {
    await write();
    await expect(restore({ force: true })).rejects.toMatchObject({
      code: "restore-refused", message: expect.stringContaining("is in use by lanthorn-collector") as string,
    });
    await database.close();
    await expect(restore()).rejects.toMatchObject({ code: "restore-refused", message: expect.stringContaining("is not empty") as string });
    expect([await tenants(), await scratches()]).toEqual(["100", 0]);
  });

  test("takes the place of what is there, which is kept beside it, and a collector goes on from there", async () => {
    await database.db.insertInto("backups").values({
      id: "b", tenant_id: "t", status: "running", running_key: "running", trigger: "manual", requested_by: "x", created_at: AT,
      heard_at: AT, finished_at: null,
      engine: "postgres", version: "1", recipients: "[]", file_name: "", size_bytes: null, sha256: null, table_count: null, row_count: null,
      error: null,
      verify_status: null, verify_method: null, verify_error: null, verified_at: null,
    }).execute();
    await write();
    await addTenants(5);
    await database.close();
    const before = `${databaseOf(location.url).slice(0, 31)}_before_restore_${STAMP.toLowerCase()}`;
    const { manifest, aside } = await restore({ force: true });
    expect([manifest.database.tables["tenants"], aside]).toEqual([100, [`the database ${before}`]]);
    expect([await tenants(), await tenants({ url: withDatabase(location.url, before) })]).toEqual(["100", "105"]);
    expect(readFileSync(join(folder, "restored", "sealing-key"), "utf8")).toBe("the key\n");
    expect(readdirSync(join(folder, "restored"))).toEqual(["sealing-key"]);
    database = await openDatabase(location);
    expect(await database.reads.selectFrom("backups").selectAll().execute()).toEqual([]);
    await addTenants(1);
    expect(await tenants()).toBe("101");
    await ask(`drop database "${before}"`);
  });

  test("fills a database that is empty, and one that is not there yet", async () => {
    await write();
    const empty = (await testLocation(join(folder, "empty"), { isBlank: true })) as PostgresLocation;
    expect((await restore({ database: empty })).aside).toEqual([]);
    expect(await tenants(empty)).toBe("100");
    const absent = { url: withDatabase(location.url, `absent_${createId()}`) };
    await restore({ database: absent, dataDir: join(folder, "third") });
    expect(await tenants(absent)).toBe("100");
    const before = [empty, absent].map(({ url }) => `'${databaseOf(url).slice(0, 31)}_before_restore_${STAMP.toLowerCase()}'`);
    expect(await ask(`select datname as name from pg_database where datname in (${before.join(", ")})`)).toEqual([]);
    expect([...(await scratchesOf(empty)), ...(await scratchesOf(absent))]).toEqual([]);
    await ask(`drop database "${databaseOf(absent.url)}"`);
  });

  test("of what cannot be read changes nothing", async () => {
    await write();
    await database.close();
    writeFileSync(file(), readFileSync(file()).subarray(0, -1));
    await expect(restore({ force: true })).rejects.toMatchObject({ code: "backup-unreadable" });
    expect([await tenants(), await scratches(), existsSync(join(folder, "restored", "sealing-key"))]).toEqual(["100", 0, false]);
  });
});
