import { type Kysely, sql, type SqlBool } from "kysely";
import { selectIn } from "../../../../db/query/select-in.ts";
import type { Schema } from "../../../../db/schema.ts";
import { isLocallyConcerned, NO_SUPPRESSIONS } from "../../suppressions/plan.ts";
import { allOf, isPlain, judgmentConditions, matchConditions, type MatchFilter, placeConditions, softwareThere } from "./filter.ts";
import { type PlaceRow, placesOf } from "./places.ts";

/** Where a CVE concerns anything: the first places, and of how many devices they all are. */
export interface CveServices {
  readonly places: readonly PlaceRow[];
  readonly devices: number;
}

/** A CVE with the software that has it. Two CVEs of the same `key` have the same places. */
interface Concern {
  readonly cveId: string;
  readonly software: readonly string[];
  readonly key: string;
  /** Whether a suppression, or what has ended, takes places out that its software has. */
  readonly isOwn: boolean;
}

/** Places of CVEs. CVEs of the same software have the same places, which are read once. */
export async function readServices(
  reads: Kysely<Schema>, filter: MatchFilter, cveIds: readonly string[], limit: number,
): Promise<ReadonlyMap<string, CveServices>> {
  const concerns = await readConcerns(reads, filter, cveIds);
  const unique = [...new Map(concerns.map((concern) => [concern.key, concern])).values()];
  const counts = new Map<string, number>();
  for (const concern of unique) counts.set(concern.key, await countDevices(reads, filter, concern));
  const first = createFirstPlaces(reads, filter, limit);
  const places = new Map<string, readonly PlaceRow[]>();
  for (const concern of unique) places.set(concern.key, await first(concern));
  return new Map(concerns.map(({ cveId, key }) => [cveId, { places: places.get(key) ?? [], devices: counts.get(key) ?? 0 }]));
}

async function readConcerns(reads: Kysely<Schema>, filter: MatchFilter, cveIds: readonly string[]): Promise<readonly Concern[]> {
  const { plan } = filter;
  const rows = await selectIn(cveIds, async (list) => (await sql<{ readonly cve_id: string; readonly software_id: string; readonly product: string }>`
    select j.cve_id, j.software_id, js.product from cve_judgments j join judged_software js on js.id = j.software_id
    where j.cve_id in (${sql.join([...new Set(list)])}) and ${allOf(judgmentConditions(filter))} and j.software_id in (${softwareThere(filter)})`.execute(reads)).rows);
  const isOwn = (cveId: string, products: readonly string[]) => !isPlain({ ...filter, plan: NO_SUPPRESSIONS }) || products.some((product) => plan.products.includes(product))
    || plan.pairs.some(([cve]) => cve === cveId) || products.some((product) => isLocallyConcerned(plan, cveId, product));
  const byCve = new Map<string, (typeof rows)[number][]>();
  for (const row of rows) byCve.set(row.cve_id, [...byCve.get(row.cve_id) ?? [], row]);
  return [...byCve].map(([cveId, its]) => {
    const software = its.map(({ software_id: id }) => id).toSorted();
    const own = isOwn(cveId, its.map(({ product }) => product));
    return { cveId, software, key: `${own ? cveId : ""} ${software.join(" ")}`, isOwn: own };
  });
}

async function countDevices(reads: Kysely<Schema>, filter: MatchFilter, { cveId, software, isOwn }: Concern): Promise<number> {
  const hasDevices = isOwn || filter.query.site_id !== undefined;
  const judged = isOwn ? sql`join cve_judgments j on j.software_id = ss.software_id and j.cve_id = ${cveId}` : sql``;
  const conditions = isOwn ? matchConditions(filter) : [...placeConditions(filter), sql<SqlBool>`ss.until is null`];
  const { rows: [row] } = await sql<{ readonly total: number }>`select count(distinct ss.device_id) as total from service_software ss
    ${hasDevices ? sql`join devices d on d.id = ss.device_id` : sql``} ${judged} where ss.software_id in (${sql.join(software)}) and ${allOf(conditions)}`.execute(reads);
  return row?.total ?? 0;
}

/** The first places of one piece of software after the other, until there are enough. */
function createFirstPlaces(reads: Kysely<Schema>, filter: MatchFilter, limit: number): (concern: Concern) => Promise<readonly PlaceRow[]> {
  const known = new Map<string, readonly PlaceRow[]>();
  const placesWith = async (softwareId: string, cveId: string): Promise<readonly PlaceRow[]> => (await sql<PlaceRow>`${placesOf(cveId)}
    where ss.software_id = ${softwareId} and ${allOf(matchConditions(filter))} order by ss.device_id limit ${limit}`.execute(reads)).rows;
  return async ({ cveId, software, isOwn }) => {
    const found: PlaceRow[] = [];
    for (const id of software) {
      if (found.length >= limit) break;
      const own = isOwn ? `${id} ${cveId}` : id;
      const places = known.get(own) ?? await placesWith(id, cveId);
      known.set(own, places);
      found.push(...places);
    }
    return found.slice(0, limit);
  };
}
