import type { DeviceFilter, View } from "@lanthorn/contract";
import { parseDeviceFilter } from "@lanthorn/contract";

/** What a view shows. */
export interface Shown {
  readonly filter: DeviceFilter;
  /** Undefined for the list's own order. */
  readonly sort: string | undefined;
  /** Empty for those that the list has anyway. */
  readonly columns: readonly string[];
}

/** What a view shows, or in words why its filter is none: another version has saved it. */
export type ReadView = { readonly ok: true; readonly shown: Shown } | { readonly ok: false; readonly message: string };

/** Reads a saved view. */
export function readView({ filter, sort, columns }: View): ReadView {
  const read = parseDeviceFilter(filter);
  return read.ok ? { ok: true, shown: { filter: read.filter, sort: sort === "" ? undefined : sort, columns } } : { ok: false, message: read.message };
}
