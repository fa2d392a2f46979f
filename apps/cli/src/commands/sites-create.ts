import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";

/** The new site, with the default settings. */
export async function createSite({ rest }: Connection, name: string): Promise<Answer> {
  const site = await rest.createSite({ name });
  return { json: site, table: { heading: ["NAME", "ID"], rows: [[site.name, site.id]] } };
}
