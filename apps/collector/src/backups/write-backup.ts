import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { syncPath } from "../sealing/secret-file.ts";
import type { DatabaseLocation } from "../db/location.ts";
import { createSeal } from "./format/age.ts";
import type { AgeRecipients } from "./format/age-keys.ts";
import type { DatabaseTools } from "./database-tools.ts";
import { isPublicFile, listDataFiles } from "./data-files.ts";
import { countRows, DATABASE_NAME, type DatabaseCopy, FILES_FOLDER, Manifest, MANIFEST_NAME } from "./format/manifest.ts";
import { unpackBackup } from "./read-backup.ts";
import { type BackupSigner, SIGNATURE_NAME } from "./format/signing.ts";
import { type TarFile, writeTar } from "./format/tar.ts";

/** What is to be backed up, and where to. */
export interface BackupOrder {
  readonly id: string;
  /** Of the collector, for the manifest. */
  readonly version: string;
  readonly createdAt: string;
  readonly dataDir: string;
  readonly database: DatabaseLocation;
  /** Files of the data directory that are elsewhere on this machine, by their names. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly recipients: AgeRecipients;
  /** Whether the deployment's own keys come along; without them a restore needs them from elsewhere. */
  readonly includeKeys: boolean;
  readonly signer: BackupSigner;
  readonly directory: string;
  /** In the directory. */
  readonly name: string;
}

/** A backup that is whole, was read back and compared. */
export interface WrittenBackup {
  readonly file: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly tables: number;
  readonly rows: number;
}

/**
 * Writes a backup: copy, archive, compress, encrypt. Then it is read back from the disk, unpacked and its database brought
 * up and counted, while the key of this one file is still known. Only then it gets its name: what has it, is whole.
 * Beside the file nothing is left, however it ends; of a process that was killed, `<name>.work` is.
 * @throws CollectorError `backup-failed` or `backup-unreadable`, and what the disk says.
 */
export async function writeBackup(order: BackupOrder, tools: DatabaseTools): Promise<WrittenBackup> {
  const work = workFolderOf(order);
  const draft = join(work, "draft");
  const file = join(order.directory, order.name);
  mkdirSync(order.directory, { recursive: true, mode: 0o700 });
  mkdirSync(work, { mode: 0o700 });
  try {
    const copy = await tools.copy(join(work, DATABASE_NAME));
    const files = readDataFiles(order);
    const manifest = manifestOf(order, copy, files, await hashFile(copy.file));
    const seal = createSeal(order.recipients);
    const sha256 = createHash("sha256");
    await pipeline(
      Readable.from(writeTar(archiveOf(manifest, order.signer, copy, files), Date.parse(order.createdAt))),
      createGzip(),
      (packed: AsyncIterable<Uint8Array>) => seal.encrypt(packed),
      async function* noteHash(sealed: AsyncIterable<Uint8Array>) {
        for await (const bytes of sealed) {
          sha256.update(bytes);
          yield bytes;
        }
      },
      createWriteStream(draft, { flags: "wx", mode: 0o600 }),
    );
    syncPath(draft);
    rmSync(copy.file);
    const back = join(work, "back");
    mkdirSync(back, { mode: 0o700 });
    await unpackBackup(createReadStream(draft), { opener: seal.opener(), trust: { signer: order.signer.publicKey } }, back, tools);
    const sizeBytes = statSync(draft).size;
    renameSync(draft, file);
    syncPath(order.directory);
    const { tables } = manifest.database;
    return { file, sizeBytes, sha256: sha256.digest("hex"), tables: Object.keys(tables).length, rows: countRows(tables) };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Where a backup is worked on. One that nobody works on is of a process that was killed. */
export function workFolderOf({ directory, id }: Pick<BackupOrder, "directory" | "id">): string {
  return join(directory, `${id}.work`);
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}

type DataFile = { readonly name: string; readonly bytes: Uint8Array };

function readDataFiles({ dataDir, database, secrets, includeKeys }: BackupOrder): readonly DataFile[] {
  const own = listDataFiles(dataDir, database)
    .filter(({ name }) => (includeKeys ? !Object.hasOwn(secrets, name) : isPublicFile(name)));
  return [
    ...own.map(({ name, path }) => ({ name, bytes: readFileSync(path) })),
    ...Object.entries(includeKeys ? secrets : {}).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
  ];
}

function manifestOf(
  { id, version, createdAt, includeKeys }: BackupOrder, copy: DatabaseCopy, files: readonly DataFile[], sha256: string,
): Manifest {
  return Manifest.parse({
    format: 2, keys: includeKeys ? "included" : "left-out", backup_id: id, created_at: createdAt, version,
    database: { engine: copy.engine, size_bytes: statSync(copy.file).size, sha256, migrations: copy.migrations, tables: copy.tables },
    files: files.map(({ name, bytes }) => ({
      name, size_bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex"),
    })),
  });
}

/** The manifest and its signature first: who reads knows then what must come, and from whom. */
function archiveOf(manifest: Manifest, signer: BackupSigner, copy: DatabaseCopy, files: readonly DataFile[]): readonly TarFile[] {
  const small = (name: string, bytes: Uint8Array): TarFile => ({ name, sizeBytes: bytes.length, bytes: Readable.from([bytes]) });
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  return [
    small(MANIFEST_NAME, text),
    small(SIGNATURE_NAME, signer.sign(text)),
    { name: DATABASE_NAME, sizeBytes: manifest.database.size_bytes, bytes: createReadStream(copy.file) },
    ...files.map(({ name, bytes }) => small(`${FILES_FOLDER}${name}`, bytes)),
  ];
}
