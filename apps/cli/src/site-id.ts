import { readAll, type RestClient } from "@lanthorn/client";
import { Id } from "@lanthorn/contract";
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

/**
 * The filter of a list for a site that is named by its name or its id, or for all. An id is taken as it is: a key that may not list sites
 * can use one. @throws CliError `not-found` for a name that no site has.
 */
export async function siteFilter(rest: Pick<RestClient, "listSites">, site: string | undefined): Promise<{ readonly site_id?: string }> {
  if (site === undefined) return {};
  return { site_id: Id.safeParse(site).success ? site : await findSiteId(rest, site) };
}
