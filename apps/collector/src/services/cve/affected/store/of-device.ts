import { type Kysely, sql } from "kysely";
import { selectIn } from "../../../../db/query/select-in.ts";
import type { Schema } from "../../../../db/schema.ts";
import { allOf, COUNTED, isSuppressed, matchConditions, type MatchFilter } from "./filter.ts";
import { type CveRow, type MatchRow, readMatches } from "./matches.ts";
import type { PlaceRow } from "./places.ts";

/** CVEs of a device: what counts first, in each the known exploited first; and of each service how many count. */
export interface DeviceMatches {
  readonly rows: readonly { readonly cve: CveRow; readonly match: MatchRow }[];
  /** By the service's key, as `tcp/22`. */
  readonly counted: ReadonlyMap<string, number>;
}

/** @param filter Names the device. */
export async function readDeviceMatches(reads: Kysely<Schema>, filter: MatchFilter, limit: number): Promise<DeviceMatches> {
  const from = sql`from service_software ss join devices d on d.id = ss.device_id join cve_judgments j on j.software_id = ss.software_id`;
  const { rows: places } = await sql<PlaceRow & { readonly cve_id: string }>`select ss.*, j.cve_id, d.ip, d.hostname, d.site_id, coalesce(ports.last_scanned, d.last_seen) as seen_at
    ${from} join matched_cves c on c.cve_id = j.cve_id left join ports on ports.device_id = ss.device_id and ports.port = ss.port and ports.protocol = ss.protocol
    where ${allOf(matchConditions(filter))}
    order by case when j.is_counted = 1 and not ${isSuppressed(filter)} then 0 else 1 end, c.risk desc, c.number desc, ss.service_key limit ${limit}`.execute(reads);
  const cves = new Map((await selectIn([...new Set(places.map(({ cve_id: id }) => id))], (list) =>
    reads.selectFrom("matched_cves").selectAll().where("cve_id", "in", list).execute())).map((row) => [row.cve_id, row]));
  const byCve = new Map<string, PlaceRow[]>();
  for (const place of places) byCve.set(place.cve_id, [...byCve.get(place.cve_id) ?? [], place]);
  const matches = await readMatches(reads, new Map([...byCve].map(([id, its]) => [id, { places: its, devices: 1 }])));
  const counts = await sql<{ readonly service_key: string; readonly cves: number }>`select ss.service_key, count(*) as cves ${from}
    where ${allOf(matchConditions({ ...filter, query: { ...filter.query, ...COUNTED } }))} group by ss.service_key`.execute(reads);
  return {
    counted: new Map(counts.rows.map(({ service_key: key, cves: count }) => [key, count])),
    rows: places.flatMap(({ cve_id: id, id: placeId }) => {
      const [cve, match] = [cves.get(id), matches.get(id)?.rows.find(({ place }) => place.id === placeId)];
      return cve && match ? [{ cve, match }] : [];
    }),
  };
}
