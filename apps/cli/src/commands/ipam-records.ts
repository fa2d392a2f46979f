import type { ADDRESS_STATUSES, IpamAddress, IpamUtilization, PREFIX_STATUSES } from "@lanthorn/contract";
import type { Query } from "@lanthorn/client";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { type Input, readText } from "../input.ts";
import { findSiteId } from "../site-id.ts";
import { answerPrefixes, findPrefixId } from "./ipam.ts";

/** What is written down of a prefix or an address; what is left out stays, or is the usual. */
export interface PrefixOptions {
  readonly site?: string;
  readonly vlan?: number;
  readonly name?: string;
  readonly description?: string;
  readonly status?: (typeof PREFIX_STATUSES)[number];
}

/** What to record of an address. `site` is a name or an id; what is left out stays, or has the collector's default. */
export interface AddressOptions {
  readonly site?: string;
  readonly mac?: string;
  readonly hostname?: string;
  readonly description?: string;
  readonly status?: (typeof ADDRESS_STATUSES)[number];
}

const prefixFields = ({ vlan, name, description, status }: PrefixOptions) => ({
  ...(vlan !== undefined && { vlan_id: vlan }), ...(name !== undefined && { name }), ...(description !== undefined && { description }),
  ...(status !== undefined && { status }),
});
const addressFields = ({ mac, hostname, description, status }: AddressOptions) => ({
  ...(mac !== undefined && { mac }), ...(hostname !== undefined && { hostname }), ...(description !== undefined && { description }),
  ...(status !== undefined && { status }),
});
const siteOf = async (
  { rest }: Connection, site: string | undefined,
) => (site === undefined ? {} : { site_id: await findSiteId(rest, site) });

/** The record as it was stored: bits behind the prefix are dropped. @throws CliError `not-found` for a site that is not there. */
export async function createPrefix(connection: Connection, prefix: string, options: PrefixOptions): Promise<Answer> {
  const made = await connection.rest.createIpamPrefix({ prefix, ...(await siteOf(connection, options.site)), ...prefixFields(options) });
  return answerPrefixes(made, [made]);
}

/** Options that are left out stay. `site` is ignored: a prefix keeps its site. @param prefix The network or its record's id. */
export async function updatePrefix({ rest }: Connection, prefix: string, options: PrefixOptions): Promise<Answer> {
  const changed = await rest.updateIpamPrefix(await findPrefixId(rest, prefix), prefixFields(options));
  return answerPrefixes(changed, [changed]);
}

/** With how much of it is taken. */
export async function showPrefix({ rest }: Connection, prefix: string): Promise<Answer> {
  const id = await findPrefixId(rest, prefix);
  const [found, utilization] = [await rest.readIpamPrefix(id), await rest.readIpamPrefixUtilization(id)];
  return { ...answerPrefixes({ ...found, utilization }, [found]), notes: [describeUse(utilization)] };
}

/** Deletes the record of a network; prefixes and addresses inside of it stay. @param prefix The network or its record's id. */
export async function deletePrefix({ rest }: Connection, prefix: string): Promise<Answer> {
  const id = await findPrefixId(rest, prefix);
  await rest.deleteIpamPrefix(id);
  return { json: { id, state: "deleted" }, text: `deleted ${prefix}` };
}

/** Filters as the API has them; every page is read. */
export async function listAddresses({ rest }: Connection, filters: Query): Promise<Answer> {
  const addresses = await collect(rest.listIpamAddresses, filters);
  return answerAddresses(addresses, addresses);
}

/** The record as it was stored. @throws CliError `not-found` for a site that is not there. */
export async function createAddress(connection: Connection, ip: string, options: AddressOptions): Promise<Answer> {
  const made = await connection.rest.createIpamAddress({ ip, ...(await siteOf(connection, options.site)), ...addressFields(options) });
  return answerAddresses(made, [made]);
}

/** Options that are left out stay. `site` is ignored: an address keeps its site. @param address The IP or its record's id. */
export async function updateAddress({ rest }: Connection, address: string, options: AddressOptions): Promise<Answer> {
  const changed = await rest.updateIpamAddress(await findAddressId({ rest }, address), addressFields(options));
  return answerAddresses(changed, [changed]);
}

/** Deletes the record; devices that use the address stay. @param address The IP or its record's id. */
export async function deleteAddress({ rest }: Connection, address: string): Promise<Answer> {
  const id = await findAddressId({ rest }, address);
  await rest.deleteIpamAddress(id);
  return { json: { id, state: "deleted" }, text: `deleted ${address}` };
}

/** CSV as it is, which `import` takes back; `--json` makes one text of it. */
export async function exportRecords({ rest }: Connection, what: "prefixes" | "addresses"): Promise<Answer> {
  const csv = await (what === "prefixes" ? rest.exportIpamPrefixes() : rest.exportIpamAddresses());
  return { json: csv, text: csv.trimEnd() };
}

/** @param file CSV; `-` for standard input. */
export async function importRecords(
  { rest }: Connection, what: "prefixes" | "addresses", file: string, { dryRun }: { readonly dryRun: boolean },
  input: Pick<Input, "readAll">,
): Promise<Answer> {
  const wish = { csv: await readText(file, input), dry_run: dryRun };
  const done = await (what === "prefixes" ? rest.importIpamPrefixes(wish) : rest.importIpamAddresses(wish));
  return { json: done, text: `${dryRun ? "would be " : ""}created ${done.created}, updated ${done.updated}, unchanged ${done.unchanged}` };
}

/** @throws CliError `not-found`, or where several sites have the address. */
async function findAddressId({ rest }: Pick<Connection, "rest">, addressOrId: string): Promise<string> {
  if (/^[0-9a-f]{8}-/i.test(addressOrId)) return addressOrId;
  const isV6 = addressOrId.includes(":");
  const found = await collect(rest.listIpamAddresses, { within: `${addressOrId}/${isV6 ? 128 : 32}` });
  const [only] = found;
  if (only && found.length === 1) return only.id;
  throw new CliError(
    "not-found", only ? `${addressOrId} exists several times: give its id` : `there is no record of ${addressOrId}`,
  );
}

function describeUse({ size, used, recorded, observed, ratio, children, children_ratio: childrenRatio }: IpamUtilization): string {
  const percent = (part: number) => `${(part * 100).toFixed(1)} %`;
  return `${used} of ${size} addresses are used (${percent(ratio)}): ${recorded} recorded, ${observed} seen. `
    + `${children} prefixes in it use ${percent(childrenRatio)}.`;
}

function answerAddresses(json: unknown, addresses: readonly IpamAddress[]): Answer {
  return {
    json,
    table: {
      heading: ["IP", "STATUS", "MAC", "HOSTNAME", "DESCRIPTION", "SITE", "ID"],
      rows: addresses.map(({ ip, status, mac, hostname, description, site_id: site, id }) => [
        ip, status, mac ?? "-", hostname || "-", description || "-", site ?? "-", id,
      ]),
    },
  };
}
