import { type Kysely, sql } from "kysely";
import { selectIn } from "../../../../db/query/select-in.ts";
import { isPostgres } from "../../../../db/row-locks.ts";
import type { Schema } from "../../../../db/schema.ts";
import { isLocallyConcerned, NO_SUPPRESSIONS } from "../../suppressions/plan.ts";
import { countEach, type DevicesOf, readDevicesOf } from "./devices-of.ts";
import { allOf, isPlain, judgmentConditions, matchConditions, type MatchFilter } from "./filter.ts";
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
  const devices = await readDevicesOf(reads, filter, [...new Set(unique.flatMap(({ software }) => software))]);
  const plain = unique.filter(({ isOwn }) => !isOwn);
  const plainCounts = await countEach(devices, plain.map(({ software }) => software));
  const counts = new Map(plain.map(({ key }, index) => [key, plainCounts[index] ?? 0]));
  const mayHaveEnded = filter.query.status.includes("resolved");
  const first = createFirstPlaces(reads, filter, limit);
  if (isPostgres(reads)) await first.readAhead(plain.flatMap(({ cveId, software }) => softwareOfPlaces(devices, software, limit).map((id) => [id, cveId] as const)));
  const places = new Map<string, readonly PlaceRow[]>();
  for (const concern of unique) {
    const software = mayHaveEnded ? concern.software : concern.software.filter((id) => devices.has(id));
    if (concern.isOwn) counts.set(concern.key, await countOwn(reads, filter, { ...concern, software }));
    places.set(concern.key, await first.of({ ...concern, software }));
  }
  return new Map(concerns.map(({ cveId, key }) => [cveId, { places: places.get(key) ?? [], devices: counts.get(key) ?? 0 }]));
}

async function readConcerns(reads: Kysely<Schema>, filter: MatchFilter, cveIds: readonly string[]): Promise<readonly Concern[]> {
  const { plan } = filter;
  // One row for each CVE: to read one for each piece of software took most of a list's time.
  const rows = await selectIn(cveIds, async (list) => (await sql<{ readonly cve_id: string; readonly software: string }>`
    select j.cve_id, string_agg(j.software_id, ' ' order by j.software_id) as software from cve_judgments j
    where j.cve_id in (${sql.join([...new Set(list)])}) and ${allOf(judgmentConditions(filter))} group by j.cve_id`.execute(reads)).rows);
  const software = new Map(rows.map(({ cve_id: id, software: ids }) => [id, ids.split(" ")]));
  const products = plan.all.length === 0 ? new Map<string, string>() : await productsOf(reads, [...new Set([...software.values()].flat())]);
  const isOwn = (cveId: string, ids: readonly string[]) => {
    if (!isPlain({ ...filter, plan: NO_SUPPRESSIONS })) return true;
    if (plan.all.length === 0) return false;
    const its = [...new Set(ids.map((id) => products.get(id) ?? ""))];
    return its.some((product) => plan.products.includes(product) || isLocallyConcerned(plan, cveId, product)) || plan.pairs.some(([cve]) => cve === cveId);
  };
  return rows.map(({ cve_id: cveId, software: ids }) => {
    const its = software.get(cveId) ?? [];
    const own = isOwn(cveId, its);
    return { cveId, software: its, key: `${own ? cveId : ""} ${ids}`, isOwn: own };
  });
}

async function productsOf(reads: Kysely<Schema>, softwareIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await selectIn(softwareIds, (list) => reads.selectFrom("judged_software").select(["id", "product"]).where("id", "in", list).execute());
  return new Map(rows.map(({ id, product }) => [id, product]));
}

/** The devices of a CVE of which not all count. */
async function countOwn(reads: Kysely<Schema>, filter: MatchFilter, { cveId, software }: Concern): Promise<number> {
  const found = await selectIn(software, async (list) => (await sql<{ readonly device_id: string }>`select distinct ss.device_id from service_software ss
    join devices d on d.id = ss.device_id join cve_judgments j on j.software_id = ss.software_id and j.cve_id = ${cveId}
    where ss.software_id in (${sql.join([...new Set(list)])}) and ${allOf(matchConditions(filter))}`.execute(reads)).rows);
  return new Set(found.map(({ device_id: id }) => id)).size;
}

/** The first of the software that together has so many places. */
function softwareOfPlaces(devices: DevicesOf, software: readonly string[], limit: number): readonly string[] {
  let places = 0;
  return software.filter((id) => {
    const isNeeded = places < limit && devices.has(id);
    places += devices.places(id);
    return isNeeded;
  });
}

/** The first places of one piece of software after the other, until there are enough. */
interface FirstPlaces {
  of(concern: Concern): Promise<readonly PlaceRow[]>;
  /** Reads places of software, and a CVE which it has, in one statement of PostgreSQL's: it takes longer to plan one for each than to run it. */
  readAhead(wanted: readonly (readonly [softwareId: string, cveId: string])[]): Promise<void>;
}

/** Pairs of software and CVE of one statement. */
const READ_AHEAD = 500;

function createFirstPlaces(reads: Kysely<Schema>, filter: MatchFilter, limit: number): FirstPlaces {
  const known = new Map<string, readonly PlaceRow[]>();
  const placesWith = async (softwareId: string, cveId: string): Promise<readonly PlaceRow[]> => (await sql<PlaceRow>`${placesOf(cveId)}
    where ss.software_id = ${softwareId} and ${allOf(matchConditions(filter))} order by ss.device_id limit ${limit}`.execute(reads)).rows;
  return {
    async of({ cveId, software, isOwn }) {
      const found: PlaceRow[] = [];
      for (const id of software) {
        if (found.length >= limit) break;
        const own = isOwn ? `${id} ${cveId}` : id;
        const places = known.get(own) ?? await placesWith(id, cveId);
        known.set(own, places);
        found.push(...places);
      }
      return found.slice(0, limit);
    },
    async readAhead(wanted) {
      const unique = [...new Map(wanted)];
      for (let from = 0; from < unique.length; from += READ_AHEAD) {
        const part = unique.slice(from, from + READ_AHEAD);
        const { rows } = await sql<PlaceRow>`select place.* from (values ${sql.join(part.map((pair) => sql`(${sql.join(pair)})`))}) as wanted (software_id, cve_id)
          cross join lateral (${placesOf(sql.ref("wanted.cve_id"))} where ss.software_id = wanted.software_id and ${allOf(matchConditions(filter))} order by ss.device_id limit ${limit}) as place
        `.execute(reads);
        const found = new Map(part.map(([id]) => [id, [] as PlaceRow[]]));
        for (const row of rows) found.get(row.software_id)?.push(row);
        for (const [id, places] of found) known.set(id, places);
      }
    },
  };
}
