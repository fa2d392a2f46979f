import { createReadStream, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { secretsInFiles } from "../../sealing/kept-secrets.ts";
import { createSeal, decryptAge } from "./age.ts";
import { createDatabaseTools } from "../database-tools.ts";
import { exportKeys } from "../keys.ts";
import { unpackBackup } from "../read-backup.ts";
import { restoreBackup } from "../restore/restore.ts";
import { createSigner, generateSigningKey, publishSigner, readSigner, type Trust } from "./signing.ts";
import { readTar, writeTar } from "./tar.ts";
import { chunksOf, collect, createSample, type Sample } from "../testing/sample.ts";
import { writeBackup } from "../write-backup.ts";

const STAMP = "20260101T000000Z";
const KEY_NAMES = ["backup-signing.pem", "ca.pem", "sealing-key", "token-secret"];
let sample: Sample;
let file: string;
beforeEach(async () => {
  sample = await createSample(3);
  for (const name of ["ca.crt", "token-secret", "backup-signing.pem"]) writeFileSync(join(sample.dataDir, name), `${name}\n`);
  ({ file } = await write());
});
afterEach(() => sample.remove());

const tools = () => createDatabaseTools({ file: sample.databaseFile });
const write = (changes = {}) => writeBackup(sample.order({ includeKeys: false, ...changes }), tools());
const unpack = (from: string, trust: Trust = { signer: sample.signer.publicKey }) => unpackBackup(
  createReadStream(from), { opener: { identities: sample.identities }, trust }, mkdtempSync(join(sample.folder, "unpacked-")), tools(),
);
const restore = (dataDir: string, changes: Partial<Parameters<typeof restoreBackup>[0]> = {}) => restoreBackup({
  file, identities: sample.identities, dataDir, database: { file: join(dataDir, "lanthorn.db") }, force: false, stamp: STAMP,
  trust: { signer: sample.signer.publicKey }, keysFolder: null, configuredKeys: [], ...changes,
});

/** Opens a backup with the private key and makes another of its parts, which whoever has the public key could. */
async function remake(change: (parts: Map<string, Buffer>) => void): Promise<string> {
  const parts = new Map<string, Buffer>();
  const plain = gunzipSync(await collect(decryptAge(createReadStream(file), { identities: sample.identities })));
  for await (const { name, bytes } of readTar(chunksOf(plain))) parts.set(name, await collect(bytes));
  change(parts);
  const tar = await collect(writeTar([...parts].map(([name, bytes]) => ({ name, sizeBytes: bytes.length, bytes: chunksOf(bytes) })), 0));
  const to = join(sample.folder, "remade.age");
  writeFileSync(to, await collect(createSeal(sample.order().recipients).encrypt(chunksOf(gzipSync(tar)))));
  return to;
}

describe("a backup's signature", () => {
  test("is checked against the signer who is expected, and another's or nobody's is refused", async () => {
    await unpack(file);
    const foreign = createSigner(generateSigningKey());
    await expect(unpack(file, { signer: foreign.publicKey })).rejects.toMatchObject({ code: "backup-untrusted" });
    await expect(unpack(file, { signer: null })).rejects.toMatchObject({ code: "backup-untrusted" });
    const { file: theirs } = await write({ name: "foreign.age", signer: foreign });
    await expect(unpack(theirs)).rejects.toMatchObject({ code: "backup-untrusted" });
    await unpack(theirs, { signer: foreign.publicKey });
    await unpack(theirs, "unsigned");
  });

  test("covers every part", async () => {
    const manifest = await remake((parts) => {
      parts.set("manifest.json", Buffer.from(parts.get("manifest.json")?.toString().replace('"version": "1"', '"version": "2"') ?? ""));
    });
    await expect(unpack(manifest)).rejects.toMatchObject({ code: "backup-unreadable" });
    const changed = await remake((parts) => void parts.get("files/ca.crt")?.write("C"));
    await expect(unpack(changed)).rejects.toMatchObject({ code: "backup-unreadable" });
    // A row that says something else: the counts are those of the manifest, and the file is a good database.
    const database = await remake((parts) => {
      const at = join(sample.folder, "changed.db");
      writeFileSync(at, parts.get("database") ?? "");
      const connection = new Sqlite(at);
      connection.exec("update tenants set name = 'mine'");
      connection.close();
      parts.set("database", readFileSync(at));
    });
    await expect(unpack(database)).rejects.toMatchObject({ code: "backup-unreadable" });
  });

  test("cannot be left out, nor the digests under it", async () => {
    for (const name of ["manifest.sig", "manifest.json"]) {
      await expect(unpack(await remake((parts) => void parts.delete(name)))).rejects.toMatchObject({ code: "backup-unreadable" });
    }
    const older = await remake((parts) => {
      parts.delete("manifest.sig");
      parts.set("manifest.json", Buffer.from(parts.get("manifest.json")?.toString().replace('"format": 2', '"format": 1') ?? ""));
    });
    await expect(unpack(older)).rejects.toMatchObject({ code: "backup-untrusted" });
    expect((await unpack(older, "unsigned")).manifest.format).toBe(1);
    const own = createSigner(generateSigningKey());
    const signed = await remake((parts) => {
      const text = Buffer.from(parts.get("manifest.json")?.toString().replaceAll(/"sha256": "\w+",?/g, "").replaceAll(/,\s*\}/g, "}") ?? "");
      parts.set("manifest.json", text);
      parts.set("manifest.sig", Buffer.from(own.sign(text)));
    });
    await expect(unpack(signed, { signer: own.publicKey })).rejects.toMatchObject({ code: "backup-unreadable" });
  });

  test("is known by the public key that lies in the data directory", () => {
    expect(readSigner(sample.dataDir)).toBeNull();
    publishSigner(sample.dataDir, sample.signer);
    expect(readSigner(sample.dataDir)).toBe(sample.signer.publicKey);
    expect(readSigner(join(sample.folder, "nowhere"))).toBeNull();
  });
});

describe("keys of the deployment", () => {
  const contentOf = async (from: string) => (await unpack(from)).files.map(({ name }) => name);

  test("are in a backup only where the operator says so", async () => {
    expect(await contentOf(file)).toEqual(["ca.crt"]);
    const { file: all } = await write({ name: "all.age", includeKeys: true, secrets: { "token-secret": "given\n" } });
    expect((await contentOf(all)).toSorted()).toEqual([...KEY_NAMES, "ca.crt"].toSorted());
    const { file: given } = await write({ name: "given.age", secrets: { "token-secret": "given\n" } });
    expect(await contentOf(given)).toEqual(["ca.crt"]);
  });

  test("are reported as missing after a restore on another machine, where the rest is as it was", async () => {
    const dataDir = join(sample.folder, "other");
    const { keys, missing } = await restore(dataDir);
    expect([keys, missing.map(({ name }) => name).toSorted()]).toEqual([[], KEY_NAMES]);
    expect(readdirSync(dataDir).toSorted()).toEqual(["ca.crt", "lanthorn.db"]);
    const { missing: fewer } = await restore(dataDir, { force: true, configuredKeys: ["sealing-key", "token-secret"] });
    expect(fewer.map(({ name }) => name).toSorted()).toEqual(["backup-signing.pem", "ca.pem"]);
  });

  test("come from the folder into which they were written, or stay where they are", async () => {
    const folder = join(sample.folder, "keys");
    await exportKeys({ secrets: secretsInFiles(sample.dataDir), dataDir: sample.dataDir, folder, given: { "token-secret": "given\n" } });
    expect(readdirSync(folder).toSorted()).toEqual(KEY_NAMES);
    const dataDir = join(sample.folder, "other");
    const { keys, missing } = await restore(dataDir, { keysFolder: folder });
    expect([keys.toSorted(), missing]).toEqual([KEY_NAMES, []]);
    expect(KEY_NAMES.map((name) => readFileSync(join(dataDir, name), "utf8"))).toEqual(
      ["backup-signing.pem\n", "the authority\n", "the key\n", "given\n"],
    );

    rmSync(join(sample.dataDir, "token-secret"));
    const { keys: stayed, missing: gone, aside } = await restore(sample.dataDir, { force: true });
    expect([stayed.toSorted(), gone.map(({ name }) => name)]).toEqual([["backup-signing.pem", "ca.pem", "sealing-key"], ["token-secret"]]);
    expect(readFileSync(join(sample.dataDir, "ca.pem"), "utf8")).toBe("the authority\n");
    expect(existsSync(join(aside[0] ?? "", "ca.pem"))).toBe(true);
  });

  test("are not written into a folder that has something, and not taken from one that has none", async () => {
    const folder = join(sample.folder, "keys");
    mkdirSync(folder);
    await expect(restore(join(sample.folder, "other"), { keysFolder: folder })).rejects.toMatchObject({ code: "restore-refused" });
    writeFileSync(join(folder, "mine"), "");
    const secrets = secretsInFiles(sample.dataDir);
    await expect(exportKeys({ secrets, dataDir: sample.dataDir, folder, given: {} })).rejects.toMatchObject({ code: "backup-failed" });
  });

  test("that were sealed with a key which is missing go from the database, and are made anew", async () => {
    const connection = new Sqlite(sample.databaseFile);
    connection.exec("insert into kept_secrets (id, content_sealed) values ('ca.pem', 'sealed')");
    connection.close();
    const { file: taken } = await write({ name: "second.age" });
    const count = (dataDir: string) => {
      const database = new Sqlite(join(dataDir, "lanthorn.db"), { readonly: true });
      const found = database.prepare("select count(*) from kept_secrets").pluck().get();
      database.close();
      return found;
    };
    const [without, having] = [join(sample.folder, "without"), join(sample.folder, "having")];
    await restore(without, { file: taken });
    await restore(having, { file: taken, configuredKeys: ["sealing-key"] });
    expect([count(without), count(having)]).toEqual([0, 1]);
  });
});
