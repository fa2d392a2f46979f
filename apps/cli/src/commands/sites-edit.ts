import type { Site } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { findSiteId } from "../site-id.ts";

/** The new site, with the default settings. @param options.timeZone Of the IANA database. */
export async function createSite({ rest }: Connection, name: string, { timeZone }: { readonly timeZone?: string } = {}): Promise<Answer> {
  return siteAnswer(await rest.createSite({ name, ...(timeZone === undefined ? {} : { time_zone: timeZone }) }));
}

/** Changes a site's name or time zone. @param options.timeZone `none` for none. */
export async function setSite({ rest }: Connection, site: string, { name, timeZone }: { readonly name?: string; readonly timeZone?: string }): Promise<Answer> {
  if (name === undefined && timeZone === undefined) throw new CliError("bad-option", "--name or --time-zone is needed: what is to be changed");
  const change = { ...(name === undefined ? {} : { name }), ...(timeZone === undefined ? {} : { time_zone: timeZone === "none" ? null : timeZone }) };
  return siteAnswer(await rest.updateSite(await findSiteId(rest, site), change));
}

function siteAnswer(site: Site): Answer {
  return { json: site, table: { heading: ["NAME", "ID", "TIME ZONE"], rows: [[site.name, site.id, site.time_zone ?? "-"]] } };
}
