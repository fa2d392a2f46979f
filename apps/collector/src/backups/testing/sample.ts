import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "@lanthorn/runtime";
import { openDatabase } from "../../db/open.ts";
import { type AgeIdentities, generateIdentity, parseIdentities } from "../format/age-keys.ts";
import { type BackupSigner, createSigner, generateSigningKey } from "../format/signing.ts";
import type { BackupOrder } from "../write-backup.ts";

/** A pair of keys, as texts and ready for use. */
export interface SampleKeys {
  readonly recipient: string;
  readonly identity: string;
  readonly recipients: readonly string[];
  readonly identities: AgeIdentities;
}

/** Makes a pair. */
export async function createKeys(): Promise<SampleKeys> {
  const { recipient, identity } = await generateIdentity();
  return { recipient, identity, recipients: [recipient], identities: parseIdentities(identity) };
}

/** A small deployment on the disk, and a pair of keys. */
export interface Sample extends Omit<SampleKeys, "recipients"> {
  readonly signer: BackupSigner;
  readonly folder: string;
  readonly dataDir: string;
  readonly databaseFile: string;
  readonly backupsDir: string;
  readonly order: (changes?: Partial<BackupOrder>) => BackupOrder;
  remove(): void;
}

const AT = "2026-01-01T00:00:00.000Z";

/** @param rows Of tenants, besides what the migrations make. */
export async function createSample(rows = 100): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-backup-"));
  const dataDir = join(folder, "data");
  const databaseFile = join(dataDir, "lanthorn.db");
  const backupsDir = join(folder, "backups");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "sealing-key"), "the key\n", { mode: 0o600 });
  writeFileSync(join(dataDir, "ca.pem"), "the authority\n", { mode: 0o600 });
  const { db, reads, close } = await openDatabase({ file: databaseFile });
  for (let row = 0; row < rows; row += 1) {
    await db.insertInto("tenants").values({ id: createId(), name: `tenant ${row}`, created_at: AT }).execute();
  }
  // A connection that was never used is not closed with the others.
  await reads.selectFrom("tenants").select("id").limit(1).execute();
  await close();
  const { recipients, ...keys } = await createKeys();
  const signer = createSigner(generateSigningKey());
  return {
    folder, dataDir, databaseFile, backupsDir, signer, ...keys,
    order: (changes = {}) => ({
      id: createId(), version: "1", createdAt: AT, dataDir, database: { file: databaseFile }, secrets: {}, recipients, includeKeys: true,
      signer,
      directory: backupsDir, name: "backup.age",
      ...changes,
    }),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

export async function* chunksOf(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

export async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}
