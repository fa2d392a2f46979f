import type { Query, RestClient } from "@lanthorn/client";
import type { IpamPrefix } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";

/** Filters as the API has them; every page is read. */
export async function listPrefixes({ rest }: Connection, filters: Query): Promise<Answer> {
  const prefixes = await collect(rest.listIpamPrefixes, filters);
  return answerPrefixes(prefixes, prefixes);
}

/** Differences between the plan and the network, by address, all pages. Filters are those of `IpamConflictsQuery`. */
export async function listConflicts({ rest }: Connection, filters: Query): Promise<Answer> {
  const conflicts = await collect(rest.listIpamConflicts, filters);
  return {
    json: conflicts,
    table: {
      heading: ["KIND", "IP", "PLANNED", "SEEN", "HOSTNAMES", "SITE"],
      rows: conflicts.map(({ kind, ip, expected_mac: planned, observed, site_id: site }) => [
        kind, ip, planned ?? "-", observed.map(({ mac }) => mac).join(",") || "-",
        observed.map(({ hostname }) => hostname).filter(Boolean).join(",") || "-", site,
      ]),
    },
  };
}

/** Takes the next free address of a prefix that is named by its id or as `10.0.0.0/24`. */
export async function takeAddress(
  { rest }: Connection, prefix: string, options: { readonly hostname?: string; readonly reserve: boolean },
): Promise<Answer> {
  const { hostname, reserve } = options;
  const address = await rest.allocateIpamAddress(await findPrefixId(rest, prefix), {
    ...(hostname !== undefined && { hostname }), ...(reserve && { status: "reserved" }),
  });
  return {
    json: address,
    table: { heading: ["IP", "STATUS", "HOSTNAME", "ID"], rows: [[address.ip, address.status, address.hostname || "-", address.id]] },
  };
}

/** Takes the next free part of a prefix. */
export async function takePrefix(
  { rest }: Connection, prefix: string, options: { readonly length: number; readonly name?: string },
): Promise<Answer> {
  const { length, name } = options;
  const taken = await rest.allocateIpamPrefix(await findPrefixId(rest, prefix), { length, ...(name !== undefined && { name }) });
  return answerPrefixes(taken, [taken]);
}

/** @throws CliError `not-found`, or where several sites have the prefix. */
export async function findPrefixId(rest: Pick<RestClient, "listIpamPrefixes">, prefixOrId: string): Promise<string> {
  if (!prefixOrId.includes("/")) return prefixOrId;
  const found = (await collect(rest.listIpamPrefixes, { within: prefixOrId })).filter(({ prefix }) => prefix === prefixOrId);
  const [only] = found;
  if (only && found.length === 1) return only.id;
  throw new CliError("not-found", only ? `${prefixOrId} exists several times: give its id` : `there is no prefix ${prefixOrId}`);
}

/** A table with a line for each prefix. @param json What `--json` prints, which may be one record or a list. */
export function answerPrefixes(json: unknown, prefixes: readonly IpamPrefix[]): Answer {
  return {
    json,
    table: {
      heading: ["PREFIX", "VLAN", "STATUS", "NAME", "SITE", "ID"],
      rows: prefixes.map(({ prefix, vlan_id: vlan, status, name, site_id: site, id }) => [
        prefix, String(vlan ?? "-"), status, name || "-", site ?? "all", id,
      ]),
    },
  };
}
