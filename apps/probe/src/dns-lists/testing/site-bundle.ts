import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { DNS_BUNDLE_FILES, DNS_BUNDLE_LISTS, type DnsBundleLists, type DnsBundlePolicy } from "@lanthorn/contract/uplink";
import { BLOCK_LISTS } from "../../bundles/names.ts";
import { sha256 } from "../../bundles/manifest.ts";
import { openBundleStore } from "../../bundles/store.ts";
import { shareVersion } from "../shared-folder.ts";

/** A site that nobody has. */
export const SITE = "01939f6e-2a10-7c3e-8f00-000000000001";

/** A policy for everyone that enforces these lists. */
export function everyone(...listIds: readonly string[]): DnsBundlePolicy["policies"][number] {
  return {
    id: "p1", name: "Everyone", scope: { kind: "everyone" }, mode: "enforce", answer: "nxdomain", sinkhole_ipv4: null, sinkhole_ipv6: null, private_relay: "allow", browser_dns: "allow",
    lists: listIds.map((id) => ({ list_id: id, mode: "enforce", schedule: null })),
  };
}

/** @param lists The names of each list by its id, as parts of text. @param categories By id; advertising where it is left out. @returns Files as a collector makes them. */
export function siteFiles(
  lists: Readonly<Record<string, readonly string[]>>, policy: Partial<DnsBundlePolicy> = {}, categories: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  const listed = Object.entries(lists).map(([id, texts]): DnsBundleLists["lists"][number] => ({
    id, name: `List ${id}`, category: categories[id] ?? "advertising", format: "domains", origin: null, may_rewrite: false, rules: texts.length, parts: texts.map((text) => {
      const bytes = gzipSync(text);
      const path = `${DNS_BUNDLE_LISTS}${sha256(bytes).slice(0, 32)}.gz`;
      files.set(path, bytes);
      return path;
    }),
  }));
  files.set(DNS_BUNDLE_FILES.lists, Buffer.from(JSON.stringify({ v: 1, site_id: SITE, lists: listed })));
  files.set(DNS_BUNDLE_FILES.policy, Buffer.from(JSON.stringify({ v: 1, site_id: SITE, policies: [everyone(...Object.keys(lists))], allowances: [], pauses: [], devices: [], ...policy })));
  return files;
}

/** What a daemon has installed, and what it leaves for the resolver, in folders below `folder`. */
export function createSharing(folder: string) {
  const [dataDir, directory] = [join(folder, "data"), join(folder, "shared")];
  mkdirSync(directory, { recursive: true });
  let version = 0;
  const store = openBundleStore(dataDir, BLOCK_LISTS);
  return {
    dataDir, directory, store, home: join(dataDir, BLOCK_LISTS),
    install: (files: ReadonlyMap<string, Buffer>) => store.install(files, (version += 1)),
    share: () => shareVersion(store, join(dataDir, BLOCK_LISTS), directory),
    /** Installs and shares. */
    async leave(files: ReadonlyMap<string, Buffer>) {
      const name = store.install(files, (version += 1));
      await shareVersion(store, join(dataDir, BLOCK_LISTS), directory);
      return join(directory, name);
    },
  };
}
