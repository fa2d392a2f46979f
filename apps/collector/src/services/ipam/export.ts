import type { IpamAddress, IpamAddressesQuery, IpamPrefix, IpamPrefixesQuery, List } from "@lanthorn/contract";
import { type CsvColumns, formatCsvLine, toLine } from "../../gateway/csv/csv.ts";

const ROWS_AT_ONCE = 500;

/** Columns of the export, as the import reads them. */
const PREFIX_COLUMNS = {
  prefix: ({ prefix }) => prefix, site: ({ site_id: site }) => site ?? "", vlan_id: ({ vlan_id: vlan }) => String(vlan ?? ""),
  name: ({ name }) => name, description: ({ description }) => description, status: ({ status }) => status, id: ({ id }) => id,
} satisfies CsvColumns<IpamPrefix>;

const ADDRESS_COLUMNS = {
  ip: ({ ip }) => ip, site: ({ site_id: site }) => site ?? "", status: ({ status }) => status, mac: ({ mac }) => mac ?? "",
  hostname: ({ hostname }) => hostname, description: ({ description }) => description, id: ({ id }) => id,
} satisfies CsvColumns<IpamAddress>;

type PageOf<Q> = Omit<Q, "page" | "per_page" | "cursor">;

/** Every page of a list. @throws ApiError as the list, before anything is written. */
export function exportPrefixes(
  query: PageOf<IpamPrefixesQuery>, list: (query: IpamPrefixesQuery) => Promise<List<IpamPrefix>>,
): Promise<AsyncGenerator<string>> {
  return begin(PREFIX_COLUMNS, (cursor) => list({ ...query, page: 1, per_page: ROWS_AT_ONCE, cursor }));
}

/** The same of addresses. */
export function exportAddresses(
  query: PageOf<IpamAddressesQuery>, list: (query: IpamAddressesQuery) => Promise<List<IpamAddress>>,
): Promise<AsyncGenerator<string>> {
  return begin(ADDRESS_COLUMNS, (cursor) => list({ ...query, page: 1, per_page: ROWS_AT_ONCE, cursor }));
}

async function begin<T>(columns: CsvColumns<T>, read: (cursor: string | undefined) => Promise<List<T>>): Promise<AsyncGenerator<string>> {
  const first = await read(undefined);
  return (async function* pages() {
    yield formatCsvLine(Object.keys(columns));
    for (let { data, meta } = first; ; { data, meta } = await read(meta.next_cursor ?? undefined)) {
      if (data.length > 0) yield data.map((row) => toLine(columns, row)).join("");
      if (meta.next_cursor === null) return;
    }
  })();
}
