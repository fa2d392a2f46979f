import { type RawBuilder, sql } from "kysely";
import { allOf, cveConditions, isPlain, judgmentConditions, matchConditions, type MatchFilter, placeConditions } from "./filter.ts";

/** A query of the ids of devices that have a match which the filter lets through; some more than once. */
export function devicesWith(filter: MatchFilter): RawBuilder<unknown> {
  const judgments = allOf([...judgmentConditions(filter), sql`j.cve_id in (select c.cve_id from matched_cves c where ${allOf(cveConditions(filter))})`]);
  if (isPlain(filter)) {
    return sql`select ss.device_id from service_software ss where ss.until is null and ${allOf(placeConditions(filter))}
      and ss.software_id in (select j.software_id from cve_judgments j where ${judgments})`;
  }
  return sql`select ss.device_id from service_software ss join devices d on d.id = ss.device_id join cve_judgments j on j.software_id = ss.software_id
    where ${allOf(matchConditions(filter))} and ${judgments}`;
}
