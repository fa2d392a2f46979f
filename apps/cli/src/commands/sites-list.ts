import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";

/** All pages. */
export async function listSites({ rest }: Connection): Promise<Answer> {
  const sites = await collect(rest.listSites);
  return { json: sites, table: { heading: ["NAME", "ID", "SINCE", "TIME ZONE"], rows: sites.map((site) => [site.name, site.id, site.created_at, site.time_zone ?? "-"]) } };
}
