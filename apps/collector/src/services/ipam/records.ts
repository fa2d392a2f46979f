import type { IpamAddress, IpamAddressCreate, IpamPrefix, IpamPrefixCreate } from "@lanthorn/contract";
import type { AddressRange } from "../../db/keys/address-range.ts";
import { type AddressRow, type PrefixRow, scopeOf } from "./store/plan.ts";

/** A prefix's row as the API shows it. */
export function toPrefix(row: PrefixRow, parentId: string | null): IpamPrefix {
  return {
    id: row.id, prefix: row.prefix, family: row.family as IpamPrefix["family"], site_id: row.site_id, parent_id: parentId,
    vlan_id: row.vlan_id,
    name: row.name, description: row.description, status: row.status as IpamPrefix["status"], created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** An address's row as the API shows it. @param prefixId The smallest planned prefix that contains it; null for none. */
export function toAddress(row: AddressRow, prefixId: string | null): IpamAddress {
  return {
    id: row.id, ip: row.ip, family: row.family as IpamAddress["family"], site_id: row.site_id, prefix_id: prefixId,
    status: row.status as IpamAddress["status"], mac: row.mac, hostname: row.hostname, description: row.description,
    created_at: row.created_at, updated_at: row.updated_at,
  };
}

interface Owner {
  readonly id: string;
  readonly tenantId: string;
  readonly at: string;
}

/** A new prefix's row. `sort_key` orders a prefix before those in it, IPv4 before IPv6. */
export function prefixRow(
  { network, first, last, hostBits }: AddressRange, wish: Omit<IpamPrefixCreate, "prefix">, { id, tenantId, at }: Owner,
): PrefixRow {
  const length = bitsOf(first) - hostBits;
  return {
    id, tenant_id: tenantId, site_id: wish.site_id, scope: scopeOf(wish.site_id), prefix: network, first_key: first, last_key: last,
    sort_key: `${first}/${String(length).padStart(3, "0")}`, length, family: familyOf(first), vlan_id: wish.vlan_id, name: wish.name,
    description: wish.description, status: wish.status, created_at: at, updated_at: at,
  };
}

/** A new address's row, from a network of one address. `ip_key` is that address's key. */
export function addressRow({ network, first }: AddressRange, wish: Omit<IpamAddressCreate, "ip">, { id, tenantId, at }: Owner): AddressRow {
  return {
    id, tenant_id: tenantId, site_id: wish.site_id, scope: scopeOf(wish.site_id), ip: network.split("/", 1)[0] ?? "", ip_key: first,
    family: familyOf(first), status: wish.status, mac: wish.mac, hostname: wish.hostname, description: wish.description, created_at: at,
    updated_at: at,
  };
}

/** 32 or 128, by a key. */
export function bitsOf(key: string): number {
  return (key.length - 1) * 4;
}

function familyOf(key: string): 4 | 6 {
  return key.startsWith("4") ? 4 : 6;
}

/** The addresses of a prefix that hosts can have. @see RFC 1122 section 3.2.1.3, RFC 3021; RFC 4291 section 2.6.1, RFC 6164 */
export function usableRange(
  { first, last }: { readonly first: bigint; readonly last: bigint }, family: number,
): { readonly first: bigint; readonly last: bigint } {
  if (last - first < 2n) return { first, last };
  return family === 4 ? { first: first + 1n, last: last - 1n } : { first: first + 1n, last };
}
