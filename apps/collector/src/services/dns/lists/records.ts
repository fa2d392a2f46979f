import type { DnsList, DnsListVersion } from "@lanthorn/contract";
import type { ListRow, VersionRow } from "./store.ts";

/** A list as the API shows it. @param versions Its own. */
export function toList(row: ListRow, versions: readonly VersionRow[]): DnsList {
  const active = versions.find(({ version }) => version === row.active_version);
  return {
    id: row.id, name: row.name, site_id: row.site_id, category: row.category, kind: row.kind as DnsList["kind"], url: row.kind === "url" ? row.place : null,
    tsig: row.tsig_name === null ? null : { name: row.tsig_name, algorithm: row.tsig_algorithm as NonNullable<DnsList["tsig"]>["algorithm"] },
    file: row.kind === "file" ? row.place : null, format: row.format as DnsList["format"], origin: row.origin, may_rewrite: row.may_rewrite === 1, checksum_url: row.checksum_url,
    interval_hours: row.interval_hours, enabled: row.is_enabled === 1, automatic: row.is_automatic === 1, active: active ? toVersion(active, row) : null, checked_at: row.checked_at,
    next_at: row.next_at, error: row.error, created_by: row.created_by, created_at: row.created_at,
  };
}

/** A version as the API shows it. */
export function toVersion(stored: VersionRow, { active_version: active }: Pick<ListRow, "active_version">): DnsListVersion {
  const { list_id: _, parts: __, is_held: isHeld, refusals, format, ...row } = stored;
  return { ...row, format: format as DnsListVersion["format"], refusals: JSON.parse(refusals) as DnsListVersion["refusals"], is_active: row.version === active, is_held: isHeld === 1 };
}
