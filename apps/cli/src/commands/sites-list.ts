import { readAll } from "@lanthorn/client";
import type { Site } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";

export async function listSites({ rest }: Connection): Promise<Answer> {
  const sites: Site[] = [];
  for await (const site of readAll(rest.listSites)) sites.push(site);
  return { json: sites, table: { heading: ["NAME", "ID", "SINCE"], rows: sites.map((site) => [site.name, site.id, site.created_at]) } };
}
