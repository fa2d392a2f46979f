import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSeal } from "./format/age.ts";
import { createDatabaseTools } from "./database-tools.ts";
import type { Manifest } from "./format/manifest.ts";
import { unpackBackup } from "./read-backup.ts";
import { writeTar } from "./format/tar.ts";
import { chunksOf, collect, createSample, type Sample } from "./testing/sample.ts";
import type { Trust } from "./format/signing.ts";
import { type WrittenBackup, writeBackup } from "./write-backup.ts";

let sample: Sample;
beforeEach(async () => {
  sample = await createSample();
});
afterEach(() => sample.remove());

const write = (changes = {}): Promise<WrittenBackup> => writeBackup(
  sample.order(changes), createDatabaseTools({ file: sample.databaseFile }),
);
const unpack = (file: string, trust: Trust = { signer: sample.signer.publicKey }) => {
  const folder = mkdtempSync(join(sample.folder, "unpacked-"));
  return unpackBackup(
    createReadStream(file), { opener: { identities: sample.identities }, trust }, folder, createDatabaseTools({ file: sample.databaseFile }),
  );
};

describe("a backup", () => {
  test("holds the database and the files, and says how much", async () => {
    const written = await write({ secrets: { "token-secret": "from the configuration\n" } });
    expect(readdirSync(sample.backupsDir)).toEqual(["backup.age"]);
    const bytes = readFileSync(written.file);
    expect(written).toMatchObject({ sizeBytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
    expect(written.rows).toBeGreaterThan(100);
    expect(statSync(written.file).mode & 0o777).toBe(0o600);
    const { manifest, databaseFile, files } = await unpack(written.file);
    expect(manifest.database.tables).toMatchObject({ tenants: 100, sites: 0 });
    expect(Object.keys(manifest.database.tables)).toHaveLength(written.tables);
    expect(files.map(({ name, path }) => [name, readFileSync(path, "utf8")]))
      .toEqual([["ca.pem", "the authority\n"], ["sealing-key", "the key\n"], ["token-secret", "from the configuration\n"]]);
    const restored = new Sqlite(databaseFile, { readonly: true });
    expect(restored.prepare("select name from tenants order by id limit 1").pluck().get()).toBe("tenant 0");
    restored.close();
  });

  test("is of one moment while others write", async () => {
    const writer = new Sqlite(sample.databaseFile);
    const insert = writer.prepare("insert into tenants (id, name, created_at) values (?, 'late', '')");
    let written = 0;
    const timer = setInterval(() => void insert.run(`late ${(written += 1)}`), 1);
    const { file } = await write();
    clearInterval(timer);
    writer.close();
    expect(written).toBeGreaterThan(0);
    expect((await unpack(file)).manifest.database.tables["tenants"]).toBeGreaterThanOrEqual(100);
  });

  test("that cannot be written leaves nothing", async () => {
    rmSync(sample.databaseFile);
    await expect(write()).rejects.toMatchObject({ code: "SQLITE_CANTOPEN" });
    writeFileSync(sample.databaseFile, "no database".repeat(1000));
    await expect(write()).rejects.toMatchObject({ code: "SQLITE_NOTADB" });
    expect(readdirSync(sample.backupsDir)).toEqual([]);
  });

  test("of a database with a damaged page is not called one", async () => {
    const database = new Sqlite(sample.databaseFile);
    const { rootpage } = database.prepare("select rootpage from sqlite_master where name = 'sites'").get() as { readonly rootpage: number };
    database.close();
    const bytes = readFileSync(sample.databaseFile);
    bytes.fill(0xff, (rootpage - 1) * 4096, (rootpage - 1) * 4096 + 200);
    writeFileSync(sample.databaseFile, bytes);
    await expect(write()).rejects.toThrow();
    expect(readdirSync(sample.backupsDir)).toEqual([]);
  });
});

/** A backup that somebody else has made: the public key is enough for that. */
async function forge(files: readonly (readonly [string, string | Uint8Array])[]): Promise<string> {
  const archive = await collect(writeTar(files.map(([name, content]) => ({
    name, sizeBytes: Buffer.from(content).length, bytes: chunksOf(Buffer.from(content)),
  })), 0));
  const sealed = await collect(createSeal(sample.order().recipients).encrypt(Readable.from([gzipSync(archive)])));
  const file = join(sample.folder, "forged.age");
  writeFileSync(file, sealed);
  return file;
}

async function realManifest(): Promise<{ readonly manifest: Manifest; readonly database: Buffer }> {
  const { file } = await write();
  const { manifest, databaseFile } = await unpack(file);
  // Of the first format, and taken unsigned: the other checks find what a signature and digests would find.
  const { sha256: _, ...unsigned } = manifest.database;
  return { manifest: { ...manifest, format: 1, database: unsigned, files: [] }, database: readFileSync(databaseFile) };
}

describe("a forged backup is refused", () => {
  test("with names that lead elsewhere, more files than it says, or fewer", async () => {
    const { manifest, database } = await realManifest();
    const text = (changes: object = {}) => JSON.stringify({ ...manifest, ...changes });
    const forgeries: Readonly<Record<string, readonly (readonly [string, string | Uint8Array])[]>> = {
      "a name that leads up": [
        ["manifest.json", text({ files: [{ name: "../evil", size_bytes: 1 }] })], ["database", database], ["files/../evil", "x"],
      ],
      "an absolute name": [["manifest.json", text({ files: [{ name: "/etc/evil", size_bytes: 1 }] })], ["database", database]],
      "a file that it does not name": [["manifest.json", text()], ["database", database], ["files/more", "x"]],
      "a file twice": [["manifest.json", text()], ["database", database], ["database", database]],
      "no database": [["manifest.json", text()]],
      "no manifest": [["database", database]],
      "a manifest of another format": [["manifest.json", text({ format: 3 })], ["database", database]],
      "a manifest that is none": [["manifest.json", "{"], ["database", database]],
      "nothing": [],
    };
    for (const [what, files] of Object.entries(forgeries)) {
      await expect(unpack(await forge(files), "unsigned"), what).rejects.toMatchObject({ code: "backup-unreadable" });
    }
    expect(existsSync(join(sample.folder, "evil"))).toBe(false);
  });

  test("with a database that is not what the manifest says", async () => {
    const { manifest, database } = await realManifest();
    const withDatabase = (changes: object) => JSON.stringify({ ...manifest, database: { ...manifest.database, ...changes } });
    const tables = { ...manifest.database.tables, tenants: 99 };
    const { sites: _, ...fewer } = manifest.database.tables;
    const damaged = Buffer.from(database);
    damaged.fill(0x55, 8192, 12_288);
    const forgeries: Readonly<Record<string, readonly (readonly [string, string | Uint8Array])[]>> = {
      "other counts": [["manifest.json", withDatabase({ tables })], ["database", database]],
      "a table less": [["manifest.json", withDatabase({ tables: fewer })], ["database", database]],
      "another engine": [["manifest.json", withDatabase({ engine: "postgres" })], ["database", database]],
      "fewer migrations": [["manifest.json", withDatabase({ migrations: manifest.database.migrations.slice(1) })], ["database", database]],
      "a damaged page": [["manifest.json", withDatabase({})], ["database", damaged]],
      "no database at all": [["manifest.json", withDatabase({ size_bytes: 5 })], ["database", "words"]],
    };
    for (const [what, files] of Object.entries(forgeries)) {
      await expect(unpack(await forge(files), "unsigned"), what).rejects.toMatchObject({ code: "backup-unreadable" });
    }
    const later = await forge([
      ["manifest.json", withDatabase({ migrations: [...manifest.database.migrations, "9999-later"] })], ["database", database],
    ]);
    await expect(unpack(later, "unsigned")).rejects.toMatchObject({ code: "database-newer" });
  });

  test("before it takes room that there is not", async () => {
    const { manifest } = await realManifest();
    const text = JSON.stringify({ ...manifest, database: { ...manifest.database, size_bytes: 2 ** 50 } });
    await expect(unpack(await forge([["manifest.json", text]]), "unsigned")).rejects.toMatchObject({ code: "backup-failed" });
  });

  test("when what is in it is not compressed, or is cut off", async () => {
    const file = join(sample.folder, "forged.age");
    for (const plain of [Buffer.from("words"), gzipSync(Buffer.alloc(5000)).subarray(0, 20)]) {
      writeFileSync(file, await collect(createSeal(sample.order().recipients).encrypt(chunksOf(plain))));
      await expect(unpack(file)).rejects.toMatchObject({ code: "backup-unreadable" });
    }
  });

  test("and leaves the folder of who unpacks it as the only place where it was", async () => {
    mkdirSync(join(sample.folder, "empty"));
    const { file } = await write();
    writeFileSync(file, readFileSync(file).subarray(0, -1));
    await expect(unpack(file)).rejects.toMatchObject({ code: "backup-unreadable" });
  });
});
