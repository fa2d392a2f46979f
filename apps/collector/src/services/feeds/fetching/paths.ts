import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { checkFile, judgeCounts, sumCounts } from "../checking/check.ts";
import type { FeedFile } from "../definition.ts";
import { FeedFailure } from "../failure.ts";
import type { Fetched, FetchContext } from "./context.ts";
import { packingOf } from "./download.ts";

const MAX_FILES = 1000;
const FEED_FILE = /\.(?:json|jsonl|csv|xml|txt|zip)(?:\.gz|\.xz)?$/;

/**
 * Takes files that lie on this machine, or are mounted there: one, or all of a folder in the order of their names. They stay where they
 * are. Nothing is new where their sizes and times are as before.
 * @throws FeedFailure
 */
export async function takePaths(
  { feed, memory, onProgress }: FetchContext, { path, others }: { readonly path: string; readonly others: readonly string[] },
): Promise<Fetched> {
  const paths = await listFiles(path, others);
  const found: FeedFile[] = [];
  const stamps: string[] = [];
  for (const each of paths) {
    const { size, mtimeMs } = await stat(each);
    if (size > feed.maxBytes) throw new FeedFailure("too-large", `${basename(each)} is larger than the ${Math.round(feed.maxBytes / 1e6)} MB that it may have`);
    found.push({ name: basename(each), path: each, bytes: size, packing: packingOf(each) });
    stamps.push(`${basename(each)} ${size} ${mtimeMs}`);
  }
  const validators = { [path]: { etag: stamps.join("\n") } };
  if (memory.validators[path]?.etag === validators[path]?.etag && memory.isWhole) return { ...memory, validators, isChanged: false };
  const checked = [];
  for (const [index, file] of found.entries()) {
    checked.push(await checkFile(file, feed));
    onProgress({ pages: index + 1, bytes: found.slice(0, index + 1).reduce((sum, { bytes }) => sum + bytes, 0), records: sumCounts(checked).records ?? 0 });
  }
  const counts = sumCounts(checked);
  judgeCounts(feed, counts, memory.counts);
  return { validators, cursor: null, files: found, isWhole: true, counts, isChanged: true };
}

async function listFiles(path: string, others: readonly string[]): Promise<readonly string[]> {
  const facts = await stat(path).catch(() => null);
  const there = facts === null ? await Promise.all(others.map(async (other) => ((await stat(other).catch(() => null))?.isFile() === true ? [other] : []))) : [];
  if (there.flat().length > 0) return there.flat();
  if (facts?.isFile() === true) return [path];
  const names = facts?.isDirectory() === true ? (await readdir(path)).filter((name) => FEED_FILE.test(name)).toSorted() : [];
  if (names.length === 0) throw new FeedFailure("missing", "its path holds no file of a feed");
  if (names.length > MAX_FILES) throw new FeedFailure("too-large", `its folder holds more than ${MAX_FILES} files`);
  return names.map((name) => join(path, name));
}
