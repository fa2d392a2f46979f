import type { IdsRuleset, IdsRulesetVersion } from "@lanthorn/contract";
import type { RulesetRow, VersionRow } from "./store.ts";

/** A rule set as the API shows it. @param versions Its own. */
export function toRuleset(row: RulesetRow, versions: readonly VersionRow[]): IdsRuleset {
  const active = versions.find(({ version }) => version === row.active_version);
  return {
    id: row.id, name: row.name, site_id: row.site_id, kind: row.kind as IdsRuleset["kind"], url: row.kind === "url" ? row.place : null,
    file: row.kind === "file" ? row.place : null, checksum_url: row.checksum_url, interval_hours: row.interval_hours, enabled: row.is_enabled === 1,
    automatic: row.is_automatic === 1, active: active ? toVersion(active, row) : null, checked_at: row.checked_at, next_at: row.next_at, error: row.error,
    created_by: row.created_by, created_at: row.created_at,
  };
}

/** A version as the API shows it. */
export function toVersion(stored: VersionRow, { active_version: active }: Pick<RulesetRow, "active_version">): IdsRulesetVersion {
  const { ruleset_id: _, is_held: isHeld, ...row } = stored;
  return { ...row, is_active: row.version === active, is_held: isHeld === 1 };
}
