import type { AlertFacets, DeviceFacets } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { siteFilter } from "../site-id.ts";

type Rest = Pick<Connection, "rest">;

/** Of which records. */
export interface FacetOptions {
  readonly site?: string;
  /** In the filter language. */
  readonly filter?: string;
}

/** How often values occur in the alerts that a filter leaves. @throws CliError `not-found`. */
export async function countAlerts({ rest }: Rest, options: FacetOptions): Promise<Answer> {
  return answer("alerts", await rest.countAlerts(await queryOf(rest, options)));
}

/** How often values occur in the devices that a filter leaves. @throws CliError `not-found`. */
export async function countDevices({ rest }: Rest, options: FacetOptions): Promise<Answer> {
  return answer("devices", await rest.countDevices(await queryOf(rest, options)));
}

async function queryOf(rest: Rest["rest"], { site, filter }: FacetOptions) {
  return { ...await siteFilter(rest, site), ...(filter !== undefined && { filter }) };
}

function answer(what: string, facets: AlertFacets | DeviceFacets): Answer {
  const { total, ...fields } = facets;
  const rows = Object.entries(fields).flatMap(([field, values]) => values.map(({ value, count }) => [field, value, String(count)]));
  return { json: facets, table: { heading: ["FIELD", "VALUE", "COUNT"], rows }, notes: [`${total} ${what}`] };
}
