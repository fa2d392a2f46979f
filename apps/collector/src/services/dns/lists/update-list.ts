import { MAX_DNS_VERSIONS } from "@lanthorn/contract";
import type { ListFormat } from "@lanthorn/dns";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Sealing } from "../../../sealing/sealing.ts";
import { askSource, type FetchFile } from "../../../sources/fetch-source.ts";
import type { NamesThread } from "../names/names-thread.ts";
import { createZoneFetch, type ZoneFetchDependencies } from "../transfers/fetch-zone.ts";
import { isTransferred, keyOf } from "./transfer-key.ts";
import type { ListRow, ListsStore } from "./store.ts";

/** What an update needs. */
export interface UpdateDependencies {
  readonly store: ListsStore;
  readonly thread: Pick<NamesThread, "read">;
  readonly fetchFile: FetchFile;
  readonly addressesOf: ZoneFetchDependencies["addressesOf"];
  readonly sealing: Sealing;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Log;
  readonly random: () => number;
  /** Where operators put lists. */
  readonly directory: string;
  /** Names that no list may block. */
  readonly protectedNames: (tenantId: string) => Promise<readonly string[]>;
  /** After a version became active. */
  readonly onChanged: () => void;
}

const MAX_BYTES = 64_000_000;
const DAY_MS = 86_400_000;

/**
 * Asks the source of a list, and takes what is new as a version. What came of it is written down, and when it is due again.
 * @returns Whether it went well. @throws What the database throws.
 */
export function updateList(deps: UpdateDependencies, row: ListRow, stop: AbortSignal): Promise<boolean> {
  return askSource({
    ...deps, fetchFile: isTransferred(row) ? (request) => createZoneFetch(deps, { id: row.id, key: keyOf(deps.sealing, row) })(request) : deps.fetchFile, maxBytes: MAX_BYTES, what: "block list", take: (published) => takeVersion(deps, row, published.bytes), settle: (outcome) => deps.store.set(null, row.id, outcome),
  }, row, stop);
}

/**
 * Reads a list and keeps it as the newest version, unless it says what the active one says. It becomes active by itself where the list is
 * automatic, and nothing speaks against it.
 * @throws FileRefused
 */
export async function takeVersion(deps: Pick<UpdateDependencies, "store" | "thread" | "protectedNames" | "onChanged"> & { readonly clock: Pick<Clock, "now"> }, row: ListRow, bytes: Uint8Array): Promise<void> {
  const { store, thread, clock } = deps;
  const active = (await store.versions(null, row.id)).find(({ version }) => version === row.active_version);
  const parts = active && await store.parts(active);
  const read = await thread.read({
    bytes, format: row.format as ListFormat | null, origin: row.origin, mayRewrite: row.may_rewrite === 1, before: parts ? Buffer.concat(parts) : null, rulesBefore: active?.rules ?? 0,
    protectedNames: await deps.protectedNames(row.tenant_id), day: Math.floor(clock.now() / DAY_MS),
  });
  let isActive = false;
  await store.locked(row.tenant_id, async (trx) => {
    const current = await store.byId(trx, row.tenant_id, row.id);
    if (!current) return;
    const versions = await store.versions(trx, row.id);
    const counting = versions.find(({ version }) => version === current.active_version);
    if (isSame(counting, read) || isSame(versions[0], read)) return;
    isActive = read.fault === null && (row.kind === "local" || current.is_automatic === 1);
    const now = toInstant(clock.now());
    const version = current.last_version + 1;
    await store.addVersion(trx, {
      list_id: row.id, version, digest: read.digest, is_held: read.fault === null ? 0 : 1, note: read.fault === null ? "" : `${read.fault}: it is held back`, format: read.format, bytes: read.content.length,
      parts: JSON.stringify(read.parts), rules: read.rules, refused: read.refused, refusals: JSON.stringify(read.refusals), added: read.added, removed: read.removed, created_at: now,
      activated_at: isActive ? now : null,
    }, read.content);
    await store.set(trx, row.id, { last_version: version, ...(isActive && { active_version: version }) });
    const activeVersion = isActive ? version : current.active_version;
    const kept = new Set([version, ...versions.map((one) => one.version)].filter((one) => one !== activeVersion).slice(0, MAX_DNS_VERSIONS - 1));
    for (const one of versions) if (one.version !== activeVersion && !kept.has(one.version)) await store.removeVersion(trx, row.id, one.version);
  });
  if (isActive) deps.onChanged();
}

function isSame(version: { readonly digest: string; readonly format: string } | undefined, read: { readonly digest: string; readonly format: string }): boolean {
  return version !== undefined && version.digest === read.digest && version.format === read.format;
}
