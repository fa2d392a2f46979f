import { MAX_IDS_VERSIONS } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import { askSource, type FetchFile } from "../../../sources/fetch-source.ts";
import type { RulesThread } from "../rules/rules-thread.ts";
import type { RulesetRow, RulesetsStore } from "./store.ts";

/** What an update needs. */
export interface UpdateDependencies {
  readonly store: RulesetsStore;
  readonly thread: Pick<RulesThread, "ask">;
  readonly fetchFile: FetchFile;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Log;
  readonly random: () => number;
  /** Where operators put files of rules. */
  readonly directory: string;
  /** After a version became active. */
  readonly onChanged: () => void;
}

const MAX_BYTES = 64_000_000;

/**
 * Asks the source of a rule set, and takes what is new as a version. What came of it is written down, and when it is due again.
 * @returns Whether it went well. @throws What the database throws.
 */
export function updateRuleset(deps: UpdateDependencies, row: RulesetRow, stop: AbortSignal): Promise<boolean> {
  return askSource({
    ...deps, maxBytes: MAX_BYTES, what: "rule set", take: (published) => takeVersion(deps, row, published), settle: (outcome) => deps.store.set(null, row.id, outcome),
  }, row, stop);
}

/**
 * Reads rules and keeps them as the newest version, unless they say what the active one says. It becomes active by itself where the rule
 * set is automatic, and has at least half of the rules that are enabled now.
 * @throws FileRefused
 */
export async function takeVersion(deps: Pick<UpdateDependencies, "store" | "thread" | "onChanged"> & { readonly clock: Pick<Clock, "now"> }, row: RulesetRow, published: { readonly bytes: Uint8Array; readonly name: string }): Promise<void> {
  const { store, thread, clock } = deps;
  const refs = row.active_version === null ? [] : [{ rulesetId: row.id, version: row.active_version }];
  const { content, digest, counts, diff } = await thread.ask("read", refs, published);
  let isActive = false;
  await store.locked(row.tenant_id, async (trx) => {
    const current = await store.byId(trx, row.tenant_id, row.id);
    if (!current) return;
    const versions = await store.versions(trx, row.id);
    const active = versions.find(({ version }) => version === current.active_version);
    if (active?.digest === digest || versions[0]?.digest === digest) return;
    const isHeld = active !== undefined && counts.enabled * 2 < active.enabled;
    isActive = row.kind === "local" || (current.is_automatic === 1 && !isHeld);
    const now = toInstant(clock.now());
    const version = current.last_version + 1;
    await store.addVersion(trx, {
      ruleset_id: row.id, version, digest, is_held: isHeld && !isActive ? 1 : 0,
      note: isHeld ? `it has ${counts.enabled} enabled rules, version ${active.version} has ${active.enabled}${isActive ? "" : ": it is held back"}` : "",
      bytes: content.length, ...counts, ...diff, created_at: now, activated_at: isActive ? now : null,
    }, content);
    await store.set(trx, row.id, { last_version: version, ...(isActive && { active_version: version }) });
    const activeVersion = isActive ? version : current.active_version;
    const kept = new Set([version, ...versions.map((one) => one.version)].filter((one) => one !== activeVersion).slice(0, MAX_IDS_VERSIONS - 1));
    for (const one of versions) {
      if (one.version !== activeVersion && !kept.has(one.version)) await store.removeVersion(trx, { rulesetId: row.id, version: one.version });
    }
  });
  if (isActive) deps.onChanged();
}
