import { rm } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "@lanthorn/runtime";
import * as z from "zod";
import { checkFile, judgeCounts, sumCounts } from "../checking/check.ts";
import { unwrapZip } from "../checking/zip.ts";
import type { FeedFile } from "../definition.ts";
import { FeedFailure } from "../failure.ts";
import { type Fetched, type FetchContext, inTurn } from "./context.ts";
import { download } from "./download.ts";
import { readFile } from "node:fs/promises";

const Asset = z.object({
  name: z.string().max(255), browser_download_url: z.url().max(2048), digest: z.string().max(128).nullish(),
});
const Releases = z.array(z.object({ tag_name: z.string().max(255), assets: z.array(Asset).max(100) })).max(100);
type Asset = z.infer<typeof Asset>;

const Cursor = z.object({ day: z.iso.date(), asset: z.string() });
type Cursor = z.infer<typeof Cursor>;

const MAX_LIST_BYTES = 10_000_000;
/** As `2026-11-20_all_CVEs_at_midnight.zip.zip`, `2026-11-20_delta_CVEs_at_1500Z.zip`, `2026-11-20_delta_CVEs_at_end_of_day.zip`. */
const ASSET = /^(\d{4}-\d{2}-\d{2})_(all|delta)_CVEs_at_(midnight|\d{4}Z|end_of_day)\.zip(?:\.zip)?$/;

/** Which assets bring a list that is at `cursor` up to date. */
export interface Choice {
  readonly isWhole: boolean;
  /** Oldest first; empty where nothing is new. */
  readonly assets: readonly Asset[];
  readonly cursor: Cursor | null;
}

/**
 * Each day begins with all CVEs at midnight; a delta holds what changed since then, and the one of the day's end all of that day. A list
 * of yesterday needs yesterday's end and today's newest delta; one that the deltas do not reach back to needs all.
 */
export function chooseAssets(releases: z.infer<typeof Releases>, cursor: Cursor | null): Choice {
  const assets = releases.flatMap((release) => release.assets).flatMap((asset) => {
    const [, day = "", kind, at = ""] = ASSET.exec(asset.name) ?? [];
    // The end of the day sorts behind its hours.
    return kind === undefined ? [] : [{ asset, day, isAll: kind === "all", at: at === "end_of_day" ? "9999Z" : at }];
  });
  const newest = assets.filter(({ isAll }) => isAll).toSorted((a, b) => b.day.localeCompare(a.day))[0];
  const days = [...new Set(assets.filter(({ isAll }) => !isAll).map(({ day }) => day))].toSorted();
  const deltaOf = (day: string) => assets.filter((one) => !one.isAll && one.day === day).toSorted((a, b) => b.at.localeCompare(a.at))[0];
  const missing = cursor === null ? [] : days.filter((day) => day >= cursor.day);
  const reaches = cursor !== null && isUnbroken(cursor.day, missing) && missing.slice(0, -1).every((day) => deltaOf(day)?.at === "9999Z");
  const from = reaches ? missing : days.filter((day) => newest !== undefined && day >= newest.day);
  const deltas = from.flatMap((day) => deltaOf(day) ?? []);
  const last = deltas.at(-1) ?? (reaches ? undefined : newest);
  const next = last === undefined ? cursor : { day: last.day, asset: last.asset.name };
  if (reaches) return { isWhole: false, assets: next?.asset === cursor.asset ? [] : deltas.filter(({ asset }) => asset.name !== cursor.asset).map(({ asset }) => asset), cursor: next };
  return { isWhole: true, assets: newest === undefined ? [] : [newest.asset, ...deltas.map(({ asset }) => asset)], cursor: next };
}

/** Whether these are all days from the first to the last, `from` among them. */
function isUnbroken(from: string, days: readonly string[]): boolean {
  return days[0] === from && days.every((day, index) => Date.parse(day) === Date.parse(from) + index * 86_400_000);
}

/**
 * Reads the CVE list from its releases on GitHub.
 * @throws FeedFailure
 * @see https://github.com/CVEProject/cvelistV5#releases
 */
export async function fetchReleases(context: FetchContext, url: string): Promise<Fetched> {
  const { memory, feed } = context;
  const before = Cursor.safeParse(memory.cursor);
  const { isWhole, assets, cursor } = chooseAssets(await readList(context, url), before.success ? before.data : null);
  if (cursor === null) throw new FeedFailure("malformed", "its list of releases names no list of CVEs");
  if (assets.length === 0) return { ...memory, cursor, isChanged: false };
  const files: FeedFile[] = [];
  let { counts } = memory;
  for (const [index, asset] of assets.entries()) {
    const file = await fetchAsset(context, asset);
    const scan = await checkFile(file, feed);
    if (isWhole && index === 0) {
      counts = sumCounts([scan]);
      judgeCounts(feed, counts, memory.counts);
    }
    files.push(file);
    context.onProgress({ pages: index + 1, records: scan?.records ?? 0 });
  }
  const pending = memory.isPending && !isWhole ? memory.files : [];
  const kept = [...pending.filter(({ name }) => !files.some((file) => file.name === name)), ...files];
  for (const { name, path } of memory.files) if (!kept.some((file) => file.name === name)) await rm(path, { force: true });
  return { validators: {}, cursor, files: kept, isWhole: isWhole || (pending.length > 0 && memory.isWhole), counts, isChanged: true };
}

async function readList(context: FetchContext, url: string): Promise<z.infer<typeof Releases>> {
  const { folder, stop } = context;
  const list = new URL(url);
  list.searchParams.set("per_page", "100");
  const got = await inTurn(context, () => download(context, {
    url: list.href, name: "releases.json", path: join(folder, "releases.json"), maxBytes: MAX_LIST_BYTES, validators: {}, stop, onBytes: () => {},
  }));
  const parsed = Releases.safeParse(parseJson(got === null ? "" : await readFile(got.file.path, "utf8")));
  if (!parsed.success) throw new FeedFailure("malformed", "its list of releases cannot be read");
  return parsed.data;
}

async function fetchAsset(context: FetchContext, asset: Asset): Promise<FeedFile> {
  const { feed, folder, stop } = context;
  const name = asset.name.replace(/\.zip\.zip$/, ".zip");
  const got = await inTurn(context, () => download(context, {
    url: asset.browser_download_url, name, path: join(folder, name), maxBytes: feed.maxBytes, validators: {}, stop,
    onBytes: (bytes, bytesTotal) => context.onProgress({ bytes, bytesTotal }),
  }));
  if (got === null) throw new FeedFailure("malformed", "its server says that nothing is new before it has sent anything");
  const said = /^sha256:([0-9a-f]{64})$/.exec(asset.digest ?? "")?.[1];
  if (said !== undefined && said !== got.sha256) {
    await rm(got.file.path, { force: true });
    throw new FeedFailure("wrong-sum", "its SHA-256 is not the one that its source gives");
  }
  return unwrapZip(got.file, feed);
}
