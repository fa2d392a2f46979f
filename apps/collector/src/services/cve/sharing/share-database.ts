import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createId, type Log, parseJson, syncFolder } from "@lanthorn/runtime";
import * as z from "zod";
import { CollectorError } from "../../../errors.ts";
import { SCHEMA_VERSION } from "../database/rows/schema.ts";
import { currentFile, installNext, lockDatabases, nextFile, removeNext } from "../database/files.ts";

/** Keeps the CVE databases of several collectors alike, by way of a folder that all of them see. */
export interface DatabaseShare {
  /**
   * Takes the shared database where it is newer than the own one, and puts the own one there where that is newer. One such run at a time; the next
   * callers get its result. Nothing happens while the own one is being built.
   * @throws CollectorError `cve-import-failed` where the folder cannot be used, or what lies there is damaged: the own one goes on answering.
   */
  sync(): Promise<void>;
}

/** What the shared folder says of the database in it. */
const Manifest = z.object({
  /** Of the database, beside the manifest. */
  file: z.string().regex(/^cve-\d{1,20}-[\w-]{1,40}\.db$/),
  /** As it is written in: another version's is not read. */
  schema: z.int(), builtAt: z.iso.datetime(), bytes: z.int().positive(), sha256: z.string().length(64),
});
type Manifest = z.infer<typeof Manifest>;

const MANIFEST = "current.json";
const PIECE_BYTES = 1024 * 1024;
/** The last one stays for whoever is reading it. */
const KEPT_FILES = 2;

/**
 * @param deps.directory The folder of the own database.
 * @param deps.shared The folder that all collectors see; it is made where it is missing.
 * @param deps.builtAt When the own one was built, ISO 8601; null where there is none.
 */
export function createDatabaseShare(deps: {
  readonly directory: string; readonly shared: string; readonly builtAt: () => string | null; readonly log: Pick<Log, "info">;
}): DatabaseShare {
  const { directory, shared, builtAt, log } = deps;
  let running: Promise<void> | null = null;
  const once = async () => {
    await mkdir(shared, { recursive: true, mode: 0o750 });
    const [own, theirs] = [builtAt(), await readManifest(shared)];
    // While collectors of two versions run, the newer version's database is shared, and the older ones keep theirs.
    if (own === (theirs?.builtAt ?? null) || (theirs !== null && theirs.schema > SCHEMA_VERSION)) return;
    const release = lockDatabases(directory);
    if (release === null) return;
    try {
      removeNext(directory);
      if (theirs !== null && (own === null || theirs.builtAt > own)) {
        await take(theirs, { shared, directory });
        log.info({ built_at: theirs.builtAt }, "the CVE database of another collector was taken");
      } else if (own !== null) {
        await give(own, { shared, directory });
        log.info({ built_at: own }, "the CVE database was given to the other collectors");
      }
    } finally {
      release();
    }
  };
  return {
    sync() {
      running ??= once().catch((error: unknown) => {
        throw error instanceof CollectorError ? error : new CollectorError("cve-import-failed", `the CVE database of the other collectors cannot be shared in ${shared}`, { cause: error });
      }).finally(() => {
        running = null;
      });
      return running;
    },
  };
}

interface Places {
  readonly shared: string;
  readonly directory: string;
}

async function readManifest(shared: string): Promise<Manifest | null> {
  const path = join(shared, MANIFEST);
  if (!existsSync(path)) return null;
  // One that cannot be read is replaced by the next that is given.
  const manifest = Manifest.safeParse(parseJson(await readFile(path, "utf8"))).data ?? null;
  return manifest === null || manifest.schema < SCHEMA_VERSION ? null : manifest;
}

async function take({ file, bytes, sha256 }: Manifest, { shared, directory }: Places): Promise<void> {
  const next = nextFile(directory);
  try {
    const copied = await copy(join(shared, file), next);
    if (copied.bytes !== bytes || copied.sha256 !== sha256) throw new CollectorError("cve-import-failed", `the CVE database in ${shared} is damaged: ${file}`);
    installNext(directory);
  } finally {
    removeNext(directory);
  }
}

/** The database first and the manifest then: whoever reads in between has the one before. */
async function give(builtAt: string, { shared, directory }: Places): Promise<void> {
  const file = `cve-${Date.parse(builtAt)}-${createId()}.db`;
  const begun = join(shared, `${file}.part`);
  try {
    const { bytes, sha256 } = await copy(currentFile(directory), begun);
    await rename(begun, join(shared, file));
    const manifest: Manifest = { file, schema: SCHEMA_VERSION, builtAt, bytes, sha256 };
    await writeFile(`${begun}.json`, JSON.stringify(manifest), { mode: 0o640, flush: true });
    await rename(`${begun}.json`, join(shared, MANIFEST));
    await syncFolder(shared);
  } finally {
    await rm(begun, { force: true });
  }
  // Names begin with the time.
  const files = (await readdir(shared)).filter((name) => name.startsWith("cve-")).toSorted();
  for (const old of files.slice(0, -KEPT_FILES)) await rm(join(shared, old), { force: true });
}

/** Copies a file in pieces, so that the collector goes on meanwhile. */
async function copy(from: string, to: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  const [source, target] = [await open(from, "r"), await open(to, "w", 0o640)];
  let bytes = 0;
  try {
    const buffer = Buffer.alloc(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, PIECE_BYTES, bytes);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      await target.write(buffer, 0, bytesRead, bytes);
      bytes += bytesRead;
    }
    await target.sync();
  } finally {
    await source.close();
    await target.close();
  }
  return { bytes, sha256: hash.digest("hex") };
}
