import { createHash } from "node:crypto";
import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { MIGRATIONS } from "../db/migrations/table.ts";
import { CollectorError } from "../errors.ts";
import { decryptAge, type Opener } from "./format/age.ts";
import type { DatabaseTools } from "./database-tools.ts";
import { DATABASE_NAME, FILES_FOLDER, Manifest, MANIFEST_NAME } from "./format/manifest.ts";
import { requireFreeSpace } from "./free-space.ts";
import { checkSignature, MAX_SIGNATURE_BYTES, SIGNATURE_NAME, type Trust } from "./format/signing.ts";
import { readTar, type TarFile } from "./format/tar.ts";
import { unreadable } from "./format/unreadable.ts";

/** A backup in a folder, whole and compared. */
export interface UnpackedBackup {
  readonly manifest: Manifest;
  readonly databaseFile: string;
  /** Those of the data directory. */
  readonly files: readonly { readonly name: string; readonly path: string }[];
}

const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

/** With which key a file is opened, and whose it must be. */
export interface Expected {
  readonly opener: Opener;
  readonly trust: Trust;
}

/**
 * Unpacks a backup into an empty folder, brings its database up there, and compares what it holds with the manifest.
 * Whoever has the public key can make a file that opens, so that nothing in it is trusted before its signature is checked, and names,
 * sizes and numbers not after it either.
 * @param tools Of the engine that is expected.
 * @throws CollectorError `backup-untrusted` for what nobody or somebody else has signed; `backup-unreadable` for what is not whole, was changed or does not fit its manifest;
 * `backup-key-unusable` for another key's; `database-newer` for what a later version has made.
 */
export async function unpackBackup(
  sealed: AsyncIterable<Uint8Array>, { opener, trust }: Expected, folder: string, tools: Pick<DatabaseTools, "engine" | "check">,
): Promise<UnpackedBackup> {
  let unpacked: UnpackedBackup | undefined;
  try {
    await pipeline(
      decryptAge(sealed, opener), createGunzip(),
      async (packed: AsyncIterable<Uint8Array>) => {
        unpacked = await unpackArchive(packed, folder, { engine: tools.engine, trust });
      },
    );
  } catch (error) {
    if (isCompressionFault(error)) throw unreadable("its content is not compressed", error);
    throw error;
  }
  if (!unpacked) throw unreadable("it is empty");
  compare(unpacked.manifest, await tools.check(unpacked.databaseFile));
  return unpacked;
}

async function unpackArchive(
  packed: AsyncIterable<Uint8Array>, folder: string, { engine, trust }: { readonly engine: string; readonly trust: Trust },
): Promise<UnpackedBackup> {
  let manifest: Manifest | undefined;
  let unsigned: Uint8Array | undefined;
  const missing = new Map<string, { readonly size_bytes: number; readonly sha256?: string | undefined }>();
  mkdirSync(join(folder, FILES_FOLDER), { mode: 0o700 });
  for await (const file of readTar(packed)) {
    if (manifest === undefined) {
      const text = await readSmall(file, MANIFEST_NAME, MAX_MANIFEST_BYTES);
      manifest = parseManifest(text);
      if (manifest.format === 1) checkSignature(text, null, trust);
      else unsigned = text;
      checkOrigin(manifest, engine);
      requireFreeSpace(folder, manifest.database.size_bytes);
      missing.set(DATABASE_NAME, manifest.database);
      for (const known of manifest.files) missing.set(`${FILES_FOLDER}${known.name}`, known);
      continue;
    }
    if (unsigned !== undefined) {
      checkSignature(unsigned, await readSmall(file, SIGNATURE_NAME, MAX_SIGNATURE_BYTES), trust);
      unsigned = undefined;
      continue;
    }
    const known = missing.get(file.name);
    if (known?.size_bytes !== file.sizeBytes) throw unreadable(`${JSON.stringify(file.name.slice(0, 100))} is not in its manifest`);
    missing.delete(file.name);
    const sha256 = await writeFile(file, join(folder, file.name));
    if (known.sha256 !== undefined && known.sha256 !== sha256) throw unreadable(`${file.name} was changed`);
  }
  const [absent] = missing.keys();
  if (!manifest || absent !== undefined) throw unreadable(`${absent ?? MANIFEST_NAME} is missing`);
  return {
    manifest, databaseFile: join(folder, DATABASE_NAME),
    files: manifest.files.map(({ name }) => ({ name, path: join(folder, FILES_FOLDER, name) })),
  };
}

/** @returns Its SHA-256, in hexadecimal. */
async function writeFile({ bytes }: TarFile, path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(bytes, async function* noteHash(source: AsyncIterable<Uint8Array>) {
    for await (const chunk of source) {
      hash.update(chunk);
      yield chunk;
    }
  }, createWriteStream(path, { flags: "wx", mode: 0o600 }));
  return hash.digest("hex");
}

async function readSmall({ name, sizeBytes, bytes }: TarFile, expected: string, largest: number): Promise<Uint8Array> {
  if (name !== expected || sizeBytes > largest) throw unreadable(`it does not begin with a manifest and its signature`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parseManifest(text: Uint8Array): Manifest {
  try {
    const manifest = Manifest.parse(JSON.parse(Buffer.from(text).toString("utf8")));
    const { format, database, files } = manifest;
    if (format > 1 && [database, ...files].some(({ sha256 }) => sha256 === undefined)) throw new Error("a digest is missing");
    return manifest;
  } catch (error) {
    throw unreadable("its manifest is not valid", error);
  }
}

function checkOrigin({ version, database }: Manifest, engine: string): void {
  const later = database.migrations.find((name) => !Object.hasOwn(MIGRATIONS, name));
  if (later !== undefined) {
    throw new CollectorError("database-newer", `the backup was made by a newer version, ${version}: install that one (it has ${later})`);
  }
  if (database.engine !== engine) throw unreadable(`its database is ${database.engine}, not ${engine}`);
}

/** Every table that one of the two has, row for row. */
function compare(
  { database }: Manifest, found: { readonly migrations: readonly string[]; readonly tables: Readonly<Record<string, number>> },
): void {
  if (database.migrations.join(" ") !== found.migrations.join(" ")) {
    throw unreadable("the versions in its database and its manifest differ");
  }
  for (const table of new Set([...Object.keys(database.tables), ...Object.keys(found.tables)])) {
    const [said, there] = [database.tables[table], found.tables[table]];
    if (said !== there) throw unreadable(`its database has ${there ?? "no"} rows in ${table}, its manifest says ${said ?? "none"}`);
  }
}

/** zlib's own codes. */
function isCompressionFault(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
}
