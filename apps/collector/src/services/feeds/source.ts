import { fileURLToPath } from "node:url";
import type { FeedSettings } from "./configuration.ts";
import type { FeedDefinition } from "./definition.ts";
import type { RemoteFile } from "./fetching/files.ts";

/** Where a feed comes from in this deployment. `url` names it; what is known of another one does not count. */
export type ResolvedSource = { readonly url: string } & (
  /** The first that is there; else all that are there of the rest. */
  | { readonly kind: "path"; readonly path: string; readonly others: readonly string[] }
  | { readonly kind: "files"; readonly files: (year: number) => readonly RemoteFile[] }
  | { readonly kind: "nvd-api" }
  | { readonly kind: "releases" }
);

/** A feed as this deployment has it. */
export interface ConfiguredFeed {
  readonly definition: FeedDefinition;
  readonly source: ResolvedSource;
  readonly intervalMs: number;
}

const HOUR_MS = 3_600_000;
const FIRST_YEAR = 2002;

/** The feeds that are enabled, in the order of the table. */
export function configureFeeds(table: readonly FeedDefinition[], settings: FeedSettings): readonly ConfiguredFeed[] {
  if (!settings.enabled) return [];
  return table.filter(({ name, isOptIn }) => settings.sources[name]?.enabled ?? isOptIn !== true).map((row) => {
    const own = settings.sources[row.name];
    const definition = {
      ...row, ...(own?.max_drop_percent !== undefined && { maxDropPercent: own.max_drop_percent }),
      ...(own?.min_records !== undefined && { minRecords: own.min_records }),
    };
    const hours = own?.interval_hours ?? Math.max(row.intervalHours ?? 0, settings.interval_hours);
    return { definition, source: resolveSource(row, own?.url, settings.mirror), intervalMs: hours * HOUR_MS };
  });
}

/** Names in `sources` that are no feed. */
export function unknownSources(table: readonly FeedDefinition[], { sources }: Pick<FeedSettings, "sources">): readonly string[] {
  return Object.keys(sources).filter((name) => !table.some((feed) => feed.name === name));
}

/** Hosts that the operator has named: they may be on private networks and without TLS. */
export function namedHosts({ mirror, sources }: Pick<FeedSettings, "mirror" | "sources">): readonly string[] {
  const places = [mirror, ...Object.values(sources).map(({ url }) => url)];
  return places.flatMap((place) => {
    if (place === undefined || place.startsWith("/") || place.startsWith("file:")) return [];
    return [new URL(place).hostname.replaceAll(/^\[|\]$/g, "")];
  });
}

function resolveSource(feed: FeedDefinition, own: string | undefined, mirror: string | undefined): ResolvedSource {
  const place = own ?? mirror;
  if (place === undefined) return publicSource(feed, feed.source.url);
  if (place.startsWith("/") || place.startsWith("file:")) {
    const path = place.startsWith("/") ? place : fileURLToPath(place);
    const url = `file://${path}`;
    if (own !== undefined) return { kind: "path", url, path, others: [] };
    const folder = path.replace(/\/$/, "");
    return { kind: "path", url, path: `${folder}/${feed.name}`, others: mirrored(feed, FIRST_YEAR).map((name) => `${folder}/${name}`) };
  }
  if (own !== undefined && !isMirrorOf(feed, own)) return publicSource(feed, own);
  const base = `${place.replace(/\/$/, "")}/`;
  return { kind: "files", url: base, files: (year) => mirrored(feed, year).map((name) => ({ name, url: own !== undefined && !own.endsWith("/") ? own : base + name, hasSum: true, isOptional: name.includes(`-${year}.`) })) };
}

/** Whether a URL is one of plain files, where the feed's own source is an API. */
function isMirrorOf({ source }: FeedDefinition, url: string): boolean {
  return source.kind === "nvd-api" ? url.endsWith("/") : source.kind === "releases" && (url.endsWith("/") || url.endsWith(".zip"));
}

function publicSource({ source }: FeedDefinition, url: string): ResolvedSource {
  if (source.kind !== "files") return { kind: source.kind, url };
  return {
    kind: "files", url,
    files: () => source.files.map(({ name, path }) => ({ name, url: path === "" ? url : new URL(path, url.endsWith("/") ? url : `${url}/`).href, hasSum: false })),
  };
}

/** What a mirror calls the files of a feed. */
function mirrored({ name, source }: FeedDefinition, year: number): readonly string[] {
  if (source.kind === "files") return source.files.map((file) => file.name);
  if (source.kind === "releases") return [`${name}.zip`];
  return Array.from({ length: year - FIRST_YEAR + 1 }, (_, index) => `nvdcve-2.0-${FIRST_YEAR + index}.json.gz`);
}
