import { MAX_FACET_VALUES } from "@lanthorn/contract";
import type { Kysely } from "kysely";
import { countFacets, type Facets } from "../../../db/query/facets.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Matches, Wanted } from "./matches.ts";

/** Columns of devices of which values are counted. */
const COLUMNS = ["site_id", "device_type", "presence_state", "vendor", "os_guess", "tags", "open_ports"] as const;
const LISTS = new Set(["tags", "open_ports"] as const);

/** How often values occur: `tags` and `open_ports` each by itself. The most frequent first. */
export type DeviceCounts = Facets<(typeof COLUMNS)[number]>;

/** Counts out the values of all devices that match. */
export function countDeviceFacets(reads: Kysely<Schema>, matches: Pick<Matches, "inTurns">, wanted: Wanted): Promise<DeviceCounts> {
  const pieces = async function* columns() {
    for await (const some of matches.inTurns(wanted)) yield some.select(COLUMNS);
  };
  return countFacets(reads, { columns: COLUMNS, lists: LISTS, most: MAX_FACET_VALUES, pieces: pieces() });
}
