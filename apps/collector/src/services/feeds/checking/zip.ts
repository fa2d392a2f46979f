import { createWriteStream } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { readZipContent } from "../../../archives/zip-content.ts";
import { DEFLATED, readZipEntries, STORED, type ZipEntry } from "../../../archives/zip-directory.ts";
import { ZipError } from "../../../archives/zip-error.ts";
import type { FeedDefinition, FeedFile } from "../definition.ts";
import { FeedFailure } from "../failure.ts";

/** What the directory of a ZIP archive says of it. */
interface ZipDirectory {
  /** Files whose names end as the feed's records do. */
  readonly records: number;
  /** Where it is the only file: an archive in an archive. */
  readonly inner: ZipEntry | null;
}

type Limits = Pick<FeedDefinition, "maxUnpackedBytes" | "maxRatio" | "mark">;

/**
 * Reads an archive's directory: counts its records, and adds up what it unpacks to. Nothing is unpacked.
 * @throws FeedFailure `malformed` and `truncated` for what is no whole archive, or none that can be read; `bomb` and `too-large` beyond the feed's limits.
 */
export async function readZipDirectory(file: Pick<FeedFile, "path">, limits: Limits): Promise<ZipDirectory> {
  return withArchive(file.path, (handle) => readDirectory(handle, limits));
}

/** @returns The archive in it, unpacked beside it in its place, or the file itself where it holds none. @throws FeedFailure */
export async function unwrapZip(file: FeedFile, limits: Limits): Promise<FeedFile> {
  const place = `${file.path}.inner`;
  try {
    return await withArchive(file.path, async (handle) => {
      const { inner } = await readDirectory(handle, limits);
      if (inner === null) return file;
      await pipeline(readZipContent(handle, inner), createWriteStream(place, { flush: true }));
      await rename(place, file.path);
      return { ...file, bytes: inner.unpackedBytes };
    });
  } catch (error) {
    await rm(place, { force: true });
    throw error;
  }
}

async function readDirectory(handle: FileHandle, limits: Limits): Promise<ZipDirectory> {
  let [records, entries] = [0, 0];
  let last: ZipEntry | undefined;
  for await (const found of readZipEntries(handle, limits)) {
    entries += found.length;
    last = found.at(-1);
    for (const { name, method, isEncrypted } of found) {
      if (!name.endsWith(limits.mark.record)) continue;
      if (isEncrypted || (method !== STORED && method !== DEFLATED)) throw new ZipError("unsupported", "its ZIP archive is encrypted or packed in a way that is not read");
      records += 1;
    }
  }
  return { records, inner: entries === 1 && last?.name.endsWith(".zip") === true ? last : null };
}

async function withArchive<T>(path: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path, "r");
  try {
    return await work(handle);
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
    throw new FeedFailure(error.code === "unsupported" ? "malformed" : error.code, error.message, { cause: error });
  } finally {
    await handle.close();
  }
}
