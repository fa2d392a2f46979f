import type { Kysely, Selectable } from "kysely";
import { among, selectIn } from "../../../../db/query/select-in.ts";
import type { Schema } from "../../../../db/schema.ts";
import type { PlaceRow } from "./places.ts";
import type { CveServices } from "./services-of.ts";

/** What is shown of a CVE. */
export type CveRow = Selectable<Schema["matched_cves"]>;
/** A judgment with the evidence of its software. */
export type JudgmentRow = Selectable<Schema["cve_judgments"]> & { readonly evidence: string };

/** A match whole. */
export interface MatchRow {
  readonly place: PlaceRow;
  readonly judgment: JudgmentRow;
  /** When the service was first known to have it, also by software that it no longer runs. */
  readonly firstSeen: string;
}

/** Of each CVE its matches, as far as they were read, and of how many devices all are. */
export type MatchesOf = ReadonlyMap<string, { readonly rows: readonly MatchRow[]; readonly devices: number }>;

/** Reads the judgments of places, and since when they hold. */
export async function readMatches(
  reads: Kysely<Schema>, services: ReadonlyMap<string, CveServices>,
): Promise<MatchesOf> {
  const pairs = new Map<string, readonly [string, string]>();
  for (const [cveId, { places }] of services) for (const { software_id: id } of places) pairs.set(`${id} ${cveId}`, [id, cveId]);
  const judgments = new Map((await selectIn([...pairs.values()], (list) => reads.selectFrom("cve_judgments").innerJoin("judged_software", "judged_software.id", "software_id")
    .selectAll("cve_judgments").select("judged_software.evidence").where(among(["software_id", "cve_id"], list)).execute())).map((row) => [`${row.software_id} ${row.cve_id}`, row]));
  const earlier = await readEarlier(reads, services);
  return new Map([...services].map(([cveId, { places, devices }]) => [cveId, {
    devices, rows: places.flatMap((place) => {
      const judgment = judgments.get(`${place.software_id} ${cveId}`);
      if (judgment === undefined) return [];
      const since = place.since > judgment.since ? place.since : judgment.since;
      const before = earlier.get(`${place.device_id} ${place.service_key} ${cveId}`);
      return [{ place, judgment, firstSeen: before !== undefined && before < since ? before : since }];
    }),
  }]));
}

/** Since when services had CVEs by software that they no longer run. */
async function readEarlier(reads: Kysely<Schema>, services: ReadonlyMap<string, CveServices>): Promise<ReadonlyMap<string, string>> {
  const cves = [...services.keys()];
  const devices = [...new Set([...services.values()].flatMap(({ places }) => places.map(({ device_id: id }) => id)))];
  const ended = await selectIn(devices, (list) => reads.selectFrom("service_software").select(["device_id", "service_key", "software_id", "since"])
    .where("device_id", "in", list).where("until", "is not", null).execute());
  if (ended.length === 0) return new Map();
  const software = [...new Set(ended.map(({ software_id: id }) => id))];
  const judged = await selectIn(cves, (list) => selectIn(software, (ids) =>
    reads.selectFrom("cve_judgments").select(["software_id", "cve_id", "since"]).where("software_id", "in", ids).where("cve_id", "in", list).execute()));
  const earliest = new Map<string, string>();
  for (const place of ended) {
    for (const { cve_id: cveId, since } of judged.filter(({ software_id: id }) => id === place.software_id)) {
      const key = `${place.device_id} ${place.service_key} ${cveId}`;
      const at = place.since > since ? place.since : since;
      const known = earliest.get(key);
      if (known === undefined || at < known) earliest.set(key, at);
    }
  }
  return earliest;
}
