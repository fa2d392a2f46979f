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

/** The site that a command is about: the named one, or the only one that there is. @throws CliError `not-found`; `bad-option` where there are several. */
export async function oneSite(rest: Pick<RestClient, "listSites">, site: string | undefined): Promise<string> {
  const { site_id: named } = await siteFilter(rest, site);
  if (named !== undefined) return named;
  const { data } = await rest.listSites({ per_page: 20 });
  const [only] = data;
  if (only && data.length === 1) return only.id;
  throw new CliError(only ? "bad-option" : "not-found", only ? `--site is needed: there are several sites, as ${data.map(({ name }) => name).join(", ")}` : "there is no site yet");
}
