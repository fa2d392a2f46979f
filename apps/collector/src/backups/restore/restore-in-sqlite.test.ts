import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDatabaseTools } from "../database-tools.ts";
import { restoreBackup } from "./restore.ts";
import { finishSwap } from "./swap.ts";
import { createSample, type Sample } from "../testing/sample.ts";
import { writeBackup } from "../write-backup.ts";

const STAMP = "20260101T000000Z";
let sample: Sample;
let file: string;
beforeEach(async () => {
  sample = await createSample();
  ({ file } = await writeBackup(sample.order(), createDatabaseTools({ file: sample.databaseFile })));
});
afterEach(() => sample.remove());

const restore = (changes: Partial<Parameters<typeof restoreBackup>[0]> = {}) => restoreBackup({
  file, identities: sample.identities, dataDir: sample.dataDir, database: { file: sample.databaseFile }, force: false, stamp: STAMP,
  trust: { signer: sample.signer.publicKey }, keysFolder: null, configuredKeys: [],
  ...changes,
});
const tenantsIn = (database: string) => {
  const connection = new Sqlite(database, { readonly: true });
  const count = connection.prepare("select count(*) from tenants").pluck().get() as number;
  connection.close();
  return count;
};
const addTenant = () => {
  const connection = new Sqlite(sample.databaseFile);
  connection.exec("insert into tenants (id, name, created_at) values ('later', 'later', '')");
  connection.close();
};

describe("a restore", () => {
  test("fills an empty data directory, which may not be there yet", async () => {
    const dataDir = join(sample.folder, "new", "data");
    const databaseFile = join(dataDir, "lanthorn.db");
    const { manifest, aside } = await restore({ dataDir, database: { file: databaseFile } });
    expect([manifest.database.tables["tenants"], aside]).toEqual([100, []]);
    expect(tenantsIn(databaseFile)).toBe(100);
    expect(readFileSync(join(dataDir, "sealing-key"), "utf8")).toBe("the key\n");
    expect(readdirSync(dataDir).toSorted()).toEqual(["ca.pem", "lanthorn.db", "sealing-key"]);
  });

  test("puts the database where the configuration has it, and the files in the data directory", async () => {
    const dataDir = join(sample.folder, "other");
    mkdirSync(join(sample.folder, "databases"));
    const databaseFile = join(sample.folder, "databases", "collector.db");
    await restore({ dataDir, database: { file: databaseFile } });
    expect(tenantsIn(databaseFile)).toBe(100);
    expect([
      readdirSync(dataDir).toSorted(), readdirSync(join(sample.folder, "databases")),
    ]).toEqual([["ca.pem", "sealing-key"], ["collector.db"]]);
  });

  test("refuses a data directory that has something, and moves it aside when it is asked to", async () => {
    addTenant();
    writeFileSync(join(sample.dataDir, "later.pem"), "later\n");
    await expect(restore()).rejects.toMatchObject({ code: "restore-refused" });
    expect(tenantsIn(sample.databaseFile)).toBe(101);
    const { aside } = await restore({ force: true });
    expect(aside).toEqual([join(sample.dataDir, `before-restore-${STAMP}`)]);
    expect(tenantsIn(sample.databaseFile)).toBe(100);
    expect(tenantsIn(join(aside[0] ?? "", "lanthorn.db"))).toBe(101);
    expect(readdirSync(sample.dataDir).toSorted()).toEqual([`before-restore-${STAMP}`, "ca.pem", "lanthorn.db", "sealing-key"]);
    expect(readFileSync(join(aside[0] ?? "", "later.pem"), "utf8")).toBe("later\n");
  });

  test("refuses while anybody has the database open, and changes nothing", async () => {
    const connection = new Sqlite(sample.databaseFile);
    connection.pragma("journal_mode = WAL");
    connection.prepare("select count(*) from tenants").get();
    await expect(restore({ force: true })).rejects.toMatchObject({ code: "restore-refused" });
    connection.close();
    expect(readdirSync(sample.dataDir).toSorted()).toEqual(["ca.pem", "lanthorn.db", "sealing-key"]);
  });

  test("of what cannot be read changes nothing", async () => {
    addTenant();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, -1));
    await expect(restore({ force: true })).rejects.toMatchObject({ code: "backup-unreadable" });
    expect(tenantsIn(sample.databaseFile)).toBe(101);
    expect(readdirSync(sample.dataDir).toSorted()).toEqual(["ca.pem", "lanthorn.db", "sealing-key"]);
  });

  test("takes the place of a database that is broken", async () => {
    writeFileSync(sample.databaseFile, "broken".repeat(1000));
    await restore({ force: true });
    expect(tenantsIn(sample.databaseFile)).toBe(100);
  });

  test("forgets the backup that was being made when it was taken", async () => {
    const connection = new Sqlite(sample.databaseFile);
    connection.exec(`insert into backups (id, tenant_id, status, running_key, trigger, requested_by, created_at, heard_at, engine, version, recipients,
        file_name)
      values ('b', 't', 'running', 'running', 'manual', 'x', '', '', 'sqlite', '1', '[]', '')`);
    connection.close();
    const taken = await writeBackup(sample.order({ name: "second.age" }), createDatabaseTools({ file: sample.databaseFile }));
    await restore({ file: taken.file, force: true });
    const restored = new Sqlite(sample.databaseFile);
    expect(restored.prepare("select count(*) from backups").pluck().get()).toBe(0);
    restored.close();
  });
});

describe("a restore that is interrupted", () => {
  /** What is to be moved, in its order, as the journal has it. */
  function begin() {
    // Left by the reader who has made the backup.
    for (const ending of ["-wal", "-shm"]) rmSync(`${sample.databaseFile}${ending}`, { force: true });
    const staged = join(sample.dataDir, ".restore-x");
    mkdirSync(staged);
    mkdirSync(join(sample.dataDir, "before"));
    const names = ["lanthorn.db", "sealing-key", "ca.pem"];
    for (const name of names) writeFileSync(join(staged, name), `new ${name}`);
    const aside = [...names, "old.pem"].map((name) => ({ from: join(sample.dataDir, name), to: join(sample.dataDir, "before", name) }));
    const inPlace = names.map((name) => ({ from: join(staged, name), to: join(sample.dataDir, name) }));
    writeFileSync(join(sample.dataDir, "old.pem"), "old");
    writeFileSync(join(sample.dataDir, "restore-journal"), JSON.stringify({ aside, inPlace, staging: [staged] }));
    return [...aside, ...inPlace];
  }

  test.each([0, 1, 2, 3, 4, 5, 6, 7])("after %i steps is ended by the next start", (steps) => {
    for (const { from, to } of begin().slice(0, steps)) renameSync(from, to);
    expect(finishSwap(sample.dataDir)).toBe(true);
    expect(readdirSync(sample.dataDir).toSorted()).toEqual(["before", "ca.pem", "lanthorn.db", "sealing-key"]);
    expect(readFileSync(join(sample.dataDir, "lanthorn.db"), "utf8")).toBe("new lanthorn.db");
    expect(readdirSync(join(sample.dataDir, "before")).toSorted()).toEqual(["ca.pem", "lanthorn.db", "old.pem", "sealing-key"]);
    expect(readFileSync(join(sample.dataDir, "before", "sealing-key"), "utf8")).toBe("the key\n");
    expect(finishSwap(sample.dataDir)).toBe(false);
  });

  test("before anything was decided leaves what was there", () => {
    mkdirSync(join(sample.dataDir, ".restore-x"));
    expect(finishSwap(sample.dataDir)).toBe(false);
    expect(existsSync(sample.databaseFile)).toBe(true);
    rmSync(join(sample.dataDir, ".restore-x"), { recursive: true });
  });
});
