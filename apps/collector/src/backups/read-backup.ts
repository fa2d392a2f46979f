import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { MIGRATIONS } from "../db/migrations/table.ts";
import { CollectorError } from "../errors.ts";
import { decryptAge } from "./age.ts";
import type { DatabaseTools } from "./database-tools.ts";
import { DATABASE_NAME, FILES_FOLDER, Manifest, MANIFEST_NAME } from "./manifest.ts";
import { requireRoom } from "./room.ts";
import { readTar, type TarFile } from "./tar.ts";
import { unreadable } from "./unreadable.ts";

/** A backup in a folder, whole and compared. */
export interface UnpackedBackup {
  readonly manifest: Manifest;
  readonly databaseFile: string;
  /** Those of the data directory. */
  readonly files: readonly { readonly name: string; readonly path: string }[];
}

const LARGEST_MANIFEST_BYTES = 4 * 1024 * 1024;

/** What is read from a file and opened with a key. */
export type Opener = Parameters<typeof decryptAge>[1];

/**
 * Unpacks a backup into an empty folder, brings its database up there, and compares what it holds with the manifest.
 * Whoever has the public key can make a file that opens, so that nothing in it is trusted: names, sizes, numbers.
 * @param tools Of the engine that is expected.
 * @throws CollectorError `backup-unreadable` for what is not whole, was changed or does not fit its manifest;
 * `backup-key-unusable` for another key's; `database-newer` for what a later version has made.
 */
export async function unpackBackup(
  sealed: AsyncIterable<Uint8Array>, opener: Opener, folder: string, tools: Pick<DatabaseTools, "engine" | "check">,
): Promise<UnpackedBackup> {
  let unpacked: UnpackedBackup | undefined;
  try {
    await pipeline(
      decryptAge(sealed, opener), createGunzip(),
      async (packed: AsyncIterable<Uint8Array>) => {
        unpacked = await unpackArchive(packed, folder, tools.engine);
      },
    );
  } catch (error) {
    if (isCompressionFault(error)) throw unreadable("what is in it is not compressed", error);
    throw error;
  }
  if (!unpacked) throw unreadable("it is empty");
  compare(unpacked.manifest, await tools.check(unpacked.databaseFile));
  return unpacked;
}

async function unpackArchive(packed: AsyncIterable<Uint8Array>, folder: string, engine: string): Promise<UnpackedBackup> {
  let manifest: Manifest | undefined;
  const missing = new Map<string, number>();
  mkdirSync(join(folder, FILES_FOLDER), { mode: 0o700 });
  for await (const file of readTar(packed)) {
    if (manifest === undefined) {
      manifest = await readManifest(file);
      checkOrigin(manifest, engine);
      requireRoom(folder, manifest.database.size_bytes);
      missing.set(DATABASE_NAME, manifest.database.size_bytes);
      for (const { name, size_bytes: size } of manifest.files) missing.set(`${FILES_FOLDER}${name}`, size);
      continue;
    }
    if (missing.get(file.name) !== file.sizeBytes) throw unreadable(`${JSON.stringify(file.name.slice(0, 100))} is not in its manifest`);
    missing.delete(file.name);
    await pipeline(file.bytes, createWriteStream(join(folder, file.name), { flags: "wx", mode: 0o600 }));
  }
  const [absent] = missing.keys();
  if (!manifest || absent !== undefined) throw unreadable(`${absent ?? MANIFEST_NAME} is missing`);
  return {
    manifest, databaseFile: join(folder, DATABASE_NAME),
    files: manifest.files.map(({ name }) => ({ name, path: join(folder, FILES_FOLDER, name) })),
  };
}

async function readManifest({ name, sizeBytes, bytes }: TarFile): Promise<Manifest> {
  if (name !== MANIFEST_NAME || sizeBytes > LARGEST_MANIFEST_BYTES) throw unreadable("it does not begin with a manifest");
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  try {
    return Manifest.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
  } catch (error) {
    throw unreadable("its manifest is none", error);
  }
}

function checkOrigin({ version, database }: Manifest, engine: string): void {
  const later = database.migrations.find((name) => !Object.hasOwn(MIGRATIONS, name));
  if (later !== undefined) {
    throw new CollectorError("database-newer", `the backup was made by a newer version, ${version}: install that one (it has ${later})`);
  }
  if (database.engine !== engine) throw unreadable(`its database is one of ${database.engine}, not of ${engine}`);
}

/** Every table that one of the two has, row for row. */
function compare(
  { database }: Manifest, found: { readonly migrations: readonly string[]; readonly tables: Readonly<Record<string, number>> },
): void {
  if (database.migrations.join(" ") !== found.migrations.join(" ")) {
    throw unreadable("its database is of another version than its manifest says");
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
