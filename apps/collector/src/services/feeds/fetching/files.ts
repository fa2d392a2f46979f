import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "@lanthorn/runtime";
import { checkFile, judgeCounts, sumCounts } from "../checking/check.ts";
import type { FeedFile } from "../definition.ts";
import { FeedFailure } from "../failure.ts";
import { type Fetched, type FetchContext, inTurn } from "./context.ts";
import { download, isThere, type Validators } from "./download.ts";
import { fetchSum } from "./sums.ts";
import { unwrapZip } from "../checking/zip.ts";

/** A file to be fetched. `isOptional`: its source may not have it, as the year's own at the turn of the year. */
export interface RemoteFile {
  readonly name: string;
  readonly url: string;
  readonly hasSum: boolean;
  readonly isOptional?: boolean;
}

type Checked = Awaited<ReturnType<typeof checkFile>>;

/**
 * Fetches files that are replaced whole, those that have changed. Each is downloaded beside the last good one, compared with its sum and
 * counted; only when all of them together hold what must hold do they take their places.
 * @throws FeedFailure
 */
export async function fetchFiles(context: FetchContext, remotes: readonly RemoteFile[]): Promise<Fetched> {
  const { memory, feed } = context;
  const [validators, files, counted]: [Record<string, Validators>, FeedFile[], Checked[]] = [{}, [], []];
  const fresh: FeedFile[] = [];
  let bytesBefore = 0;
  for (const [index, remote] of remotes.entries()) {
    const last = memory.files.find(({ name }) => name === remote.name || name === `${remote.name}.gz`);
    const known = last !== undefined && (await isThere(last)) ? last : undefined;
    const onBytes = (bytes: number, total: number | null) => {
      context.onProgress({ bytes: bytesBefore + bytes, bytesTotal: remotes.length === 1 ? total : null, pages: index });
    };
    const got = await fetchOne(context, remote, { known, validators: known ? memory.validators[remote.name] ?? {} : {}, onBytes });
    if (got === "none") continue;
    const file = got === null ? known : got.file;
    if (file === undefined) throw new FeedFailure("malformed", "its server says that nothing is new before it has sent anything");
    counted.push(got?.checked ?? (await checkFile(file, feed)));
    files.push(file);
    validators[remote.name] = got?.validators ?? memory.validators[remote.name] ?? {};
    if (got !== null) fresh.push(got.file);
    bytesBefore += file.bytes;
    context.onProgress({ bytes: bytesBefore, pages: index + 1, records: sumCounts(counted).records ?? 0 });
  }
  const counts = sumCounts(counted);
  if (fresh.length === 0) return { ...memory, validators, isChanged: false };
  judgeCounts(feed, counts, memory.counts);
  return { validators, cursor: null, files: await settle(context, files, fresh), isWhole: true, counts, isChanged: true };
}

/** @returns Null where nothing is new; `none` where the source has no such file and need not. */
async function fetchOne(context: FetchContext, remote: RemoteFile, { known, validators, onBytes }: {
  readonly known: FeedFile | undefined; readonly validators: Validators; readonly onBytes: (bytes: number, total: number | null) => void;
}): Promise<{ readonly file: FeedFile; readonly checked: Checked; readonly validators: Validators } | "none" | null> {
  const { feed, folder, stop } = context;
  try {
    const sum = remote.hasSum ? await inTurn(context, () => fetchSum(context, remote.url)) : null;
    const got = await inTurn(context, () => download(context, {
      url: remote.url, name: remote.name, path: join(folder, `new-${remote.name}`), maxBytes: feed.maxBytes, validators, onBytes, stop,
      isPackable: !/\.(?:gz|zip|xz)$/.test(remote.name),
    }));
    if (got === null) return null;
    const isSame = sum === null || sum.isUnpacked || sum.sha256 === got.sha256;
    const file = isSame && got.file.packing === "zip" ? await unwrapZip(got.file, feed) : got.file;
    const checked = isSame ? await checkFile(file, feed) : null;
    if (!isSame || (sum?.isUnpacked === true && checked?.sha256 !== sum.sha256)) throw new FeedFailure("wrong-sum", "its SHA-256 is not the one that its source gives");
    return { file, checked, validators: got.validators };
  } catch (error) {
    const isMissing = error instanceof FeedFailure && error.code === "status" && remote.isOptional === true && known === undefined;
    if (isMissing) return "none";
    throw error;
  }
}

/** Gives new files their places. @returns All files as they lie then. */
async function settle({ folder }: FetchContext, files: readonly FeedFile[], fresh: readonly FeedFile[]): Promise<readonly FeedFile[]> {
  const settled: FeedFile[] = [];
  for (const file of files) {
    const path = fresh.includes(file) ? join(folder, file.name) : file.path;
    if (path !== file.path) await rename(file.path, path);
    settled.push({ ...file, path });
  }
  await syncFolder(dirname(join(folder, "x")));
  return settled;
}
