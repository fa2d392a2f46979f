import { MAX_FACET_VALUES } from "@lanthorn/contract";
import type { Kysely } from "kysely";
import { countFacets, type Facets } from "../../../db/query/facets.ts";
import { ALL_IDS, idRanges, ROWS_AT_ONCE } from "../../../db/query/id-ranges.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Matches, Wanted } from "./matches.ts";

/** Columns of devices of which values are counted. */
const COLUMNS = ["site_id", "device_type", "presence_state", "vendor", "os_guess", "tags", "open_ports"] as const;
const LISTS = new Set(["tags", "open_ports"] as const);

/** How often values occur: `tags` and `open_ports` each by itself. The most frequent first. */
export type DeviceCounts = Facets<(typeof COLUMNS)[number]>;

/** Counts out the values of all devices that match: where they can be few only, all at once. */
export async function countDeviceFacets(reads: Kysely<Schema>, matches: Pick<Matches, "all" | "among" | "counted">, wanted: Wanted): Promise<DeviceCounts> {
  const areFew = wanted.search?.isNarrow || await matches.counted(wanted.tenantId, {}) <= ROWS_AT_ONCE;
  return countFacets(reads, {
    columns: COLUMNS, lists: LISTS, most: MAX_FACET_VALUES, ranges: areFew ? [ALL_IDS] : idRanges(reads, "devices"),
    among: (range) => (areFew ? matches.all(wanted) : matches.among(wanted, range)).select(COLUMNS),
  });
}
