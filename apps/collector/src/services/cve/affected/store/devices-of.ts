import { nextTurn } from "@lanthorn/runtime";
import { type Kysely, sql, type SqlBool } from "kysely";
import { selectIn } from "../../../../db/query/select-in.ts";
import { isPostgres } from "../../../../db/row-locks.ts";
import type { Schema } from "../../../../db/schema.ts";
import { allOf, judgmentConditions, type MatchFilter, placeConditions } from "./filter.ts";

/** Devices that have software: a number for each, so that those of several pieces are counted once. */
export interface DevicesOf {
  /** Adds the devices of a piece of software. */
  add(softwareId: string, deviceIds: string): void;
  has(softwareId: string): boolean;
  /** At how many places it runs. */
  places(softwareId: string): number;
  /** How many devices have one of them. */
  count(softwareIds: readonly string[]): number;
}

/** Pieces of software of which the devices are read by one statement. */
const MAX_AT_ONCE = 512;
/** With more of them PostgreSQL reads those of all software: a long list takes it twice as long to understand as an index from end to end to read. */
const MAX_LISTED = 1000;
/** As many as are counted between two turns of the event loop: some milliseconds. */
const MAX_COUNTED = 500_000;

/** Reads the devices of software, as far as the filter's places say. */
export async function readDevicesOf(reads: Kysely<Schema>, filter: MatchFilter, softwareIds: readonly string[]): Promise<DevicesOf> {
  const devices = createDevicesOf();
  if (isPostgres(reads) && softwareIds.length > MAX_LISTED) {
    const wanted = new Set(softwareIds);
    const { rows } = await sql<DevicesRow>`${devicesBySoftware(filter)} group by ss.software_id`.execute(reads);
    for (const { software_id: id, devices: ids } of rows) if (wanted.has(id)) devices.add(id, ids);
    return devices;
  }
  await selectIn(softwareIds, async (list) => {
    const { rows } = await sql<DevicesRow>`${devicesBySoftware(filter)} and ss.software_id in (${sql.join([...new Set(list)])}) group by ss.software_id`.execute(reads);
    for (const { software_id: id, devices: ids } of rows) devices.add(id, ids);
    return [];
  });
  return devices;
}

/** How many devices a plain filter's matches are of. */
export async function countAllDevices(reads: Kysely<Schema>, filter: MatchFilter): Promise<number> {
  const devices = createDevicesOf();
  const all: string[] = [];
  const hasJudgment = sql<SqlBool>`exists (select 1 from cve_judgments j where j.software_id = ss.software_id and ${allOf(judgmentConditions(filter))})`;
  for (let after: string | undefined = ""; after !== undefined;) {
    const { rows }: { readonly rows: readonly DevicesRow[] } = await sql<DevicesRow>`${devicesBySoftware(filter)} and ss.software_id > ${after} and ${hasJudgment}
      group by ss.software_id order by ss.software_id limit ${MAX_AT_ONCE}`.execute(reads);
    for (const { software_id: id, devices: ids } of rows) {
      devices.add(id, ids);
      all.push(id);
    }
    after = rows.length === MAX_AT_ONCE ? rows.at(-1)?.software_id : undefined;
    await nextTurn();
  }
  return devices.count(all);
}

/** Counts the devices of each list of software. */
export async function countEach(devices: DevicesOf, lists: readonly (readonly string[])[]): Promise<readonly number[]> {
  const counts: number[] = [];
  let steps = 0;
  for (const list of lists) {
    const count = devices.count(list);
    counts.push(count);
    steps += count + list.length;
    if (steps < MAX_COUNTED) continue;
    steps = 0;
    await nextTurn();
  }
  return counts;
}

interface DevicesRow {
  readonly software_id: string;
  /** Ids, with a blank between them. */
  readonly devices: string;
}

function devicesBySoftware(filter: MatchFilter) {
  return sql`select ss.software_id, string_agg(ss.device_id, ' ') as devices from service_software ss
    ${filter.query.site_id === undefined ? sql`` : sql`join devices d on d.id = ss.device_id`} where ${allOf(placeConditions(filter))} and ss.until is null`;
}

function createDevicesOf(): DevicesOf {
  const numbers = new Map<string, number>();
  const bySoftware = new Map<string, Uint32Array>();
  return {
    add(softwareId, deviceIds) {
      bySoftware.set(softwareId, Uint32Array.from(deviceIds.split(" "), (id) => {
        const number = numbers.get(id) ?? numbers.size;
        numbers.set(id, number);
        return number;
      }));
    },
    has: (softwareId) => bySoftware.has(softwareId),
    places: (softwareId) => bySoftware.get(softwareId)?.length ?? 0,
    count(softwareIds) {
      const seen = new Uint8Array(numbers.size);
      let count = 0;
      for (const id of softwareIds) {
        for (const number of bySoftware.get(id) ?? []) {
          if (seen[number] === 1) continue;
          seen[number] = 1;
          count += 1;
        }
      }
      return count;
    },
  };
}
