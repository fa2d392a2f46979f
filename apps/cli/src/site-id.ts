import { readAll, type RestClient } from "@lanthorn/client";
import { CliError } from "./errors.ts";

/** The id of a site that is named by its name or its id. @throws CliError `not-found`, with the names that there are. */
export async function findSiteId(rest: Pick<RestClient, "listSites">, nameOrId: string): Promise<string> {
  const names: string[] = [];
  for await (const site of readAll(rest.listSites)) {
    if (site.id === nameOrId || site.name === nameOrId) return site.id;
    names.push(site.name);
  }
  throw new CliError("not-found", `there is no site ${JSON.stringify(nameOrId)}; known sites: ${names.join(", ") || "none"}`);
}
