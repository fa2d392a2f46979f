import type { ConfigVersion } from "@lanthorn/contract";
import type { ListedVersion } from "./store.ts";

/** A version as the API shows it, without its text. */
export function toConfigVersion(row: ListedVersion): ConfigVersion {
  const { id, device_id, version, size_bytes, lines, lines_added, lines_removed, changed_by, comment, captured_at, created_at } = row;
  return { id, device_id, version, size_bytes, lines, lines_added, lines_removed, changed_by, comment, captured_at, created_at };
}

/** A version as the target of a record of the audit log. */
export function targetOf(id: string): { readonly type: "config_version"; readonly id: string } {
  return { type: "config_version", id };
}
