import * as z from "zod";
import { CONFLICT_KINDS, Id, Instant, IpAddress, IpNetwork } from "../values.ts";
import { listEnvelope, listQuery, PageQuery } from "./envelopes.ts";
import { MacInput } from "./mac.ts";

export const PREFIX_STATUSES = ["active", "container", "reserved", "deprecated"] as const;
export const ADDRESS_STATUSES = ["assigned", "reserved", "dhcp", "deprecated"] as const;

/** A network of one's own plan. Prefixes nest; the same one may be there once for each site, and once for all sites. */
export const IpamPrefix = z.object({
  id: Id,
  /** Without bits behind the prefix: `10.0.0.0/24`. */
  prefix: z.string(),
  family: z.union([z.literal(4), z.literal(6)]),
  /** Null for one of all sites. */
  site_id: Id.nullable(),
  /** The smallest prefix that it lies in, at its site or at all. */
  parent_id: Id.nullable(),
  vlan_id: z.int().nullable(),
  name: z.string(),
  description: z.string(),
  status: z.enum(PREFIX_STATUSES),
  created_at: Instant,
  updated_at: Instant,
});
export type IpamPrefix = z.infer<typeof IpamPrefix>;

const name = z.string().trim().max(255);
const description = z.string().max(4096);
const vlanId = z.int().min(1).max(4094).nullable();

export const IpamPrefixCreate = z.strictObject({
  prefix: IpNetwork.meta({ examples: ["192.0.2.0/24"] }),
  site_id: Id.nullable().default(null),
  vlan_id: vlanId.default(null),
  name: name.default(""),
  description: description.default(""),
  status: z.enum(PREFIX_STATUSES).default("active"),
});
export type IpamPrefixCreate = z.infer<typeof IpamPrefixCreate>;

/** Fields left out stay. A prefix and its site are what it is: make another. */
export const IpamPrefixUpdate = z.strictObject({
  vlan_id: vlanId.optional(), name: name.optional(), description: description.optional(), status: z.enum(PREFIX_STATUSES).optional(),
});
export type IpamPrefixUpdate = z.infer<typeof IpamPrefixUpdate>;

/** In the order of their addresses, larger ones first. */
export const IpamPrefixesQuery = PageQuery.extend({
  site_id: Id.optional(),
  status: listQuery(PREFIX_STATUSES).optional(),
  vlan_id: z.coerce.number().int().min(1).max(4094).optional(),
  family: z.enum(["4", "6"]).optional(),
  /** Those that lie in this network, and itself. */
  within: IpNetwork.optional(),
  search: z.string().min(1).max(255).optional(),
});
export type IpamPrefixesQuery = z.infer<typeof IpamPrefixesQuery>;

/** How much of a prefix is taken. Numbers of addresses are decimal texts: those of IPv6 are larger than JSON's numbers can be. */
export const IpamUtilization = z.object({
  /** Addresses that hosts can have. */
  size: z.string().regex(/^\d+$/),
  /** Recorded and not deprecated, or had by a device now. */
  used: z.int().min(0),
  recorded: z.int().min(0),
  observed: z.int().min(0),
  /** Part of the addresses that are used, 0 to 1. */
  ratio: z.number().min(0).max(1),
  /** Prefixes right below, and the part that they take, 0 to 1. */
  children: z.int().min(0),
  children_ratio: z.number().min(0).max(1),
});
export type IpamUtilization = z.infer<typeof IpamUtilization>;

/** An address that somebody has written down. */
export const IpamAddress = z.object({
  id: Id,
  ip: z.string(),
  family: z.union([z.literal(4), z.literal(6)]),
  /** Null for one of no site in particular. */
  site_id: Id.nullable(),
  /** The smallest prefix that it lies in. */
  prefix_id: Id.nullable(),
  status: z.enum(ADDRESS_STATUSES),
  /** Whose it is to be; any other that has it is a conflict. */
  mac: z.string().nullable(),
  hostname: z.string(),
  description: z.string(),
  created_at: Instant,
  updated_at: Instant,
});
export type IpamAddress = z.infer<typeof IpamAddress>;

const ADDRESS_FIELDS = {
  status: z.enum(ADDRESS_STATUSES).default("assigned"),
  mac: MacInput.nullable().default(null),
  hostname: z.string().trim().max(255).default(""),
  description: description.default(""),
};

export const IpamAddressCreate = z.strictObject({ ip: IpAddress, site_id: Id.nullable().default(null), ...ADDRESS_FIELDS });
export type IpamAddressCreate = z.infer<typeof IpamAddressCreate>;

/** Fields left out stay. */
export const IpamAddressUpdate = z.strictObject({
  status: z.enum(ADDRESS_STATUSES).optional(), mac: MacInput.nullable().optional(), hostname: z.string().trim().max(255).optional(),
  description: description.optional(),
});
export type IpamAddressUpdate = z.infer<typeof IpamAddressUpdate>;

/** What the next free address becomes. */
export const IpamNextAddress = z.strictObject(ADDRESS_FIELDS);
export type IpamNextAddress = z.infer<typeof IpamNextAddress>;

/** How large a part of a prefix is wanted, and what it becomes. */
export const IpamNextPrefix = z.strictObject({
  /** Longer than that of the prefix it is to lie in. */
  length: z.int().min(1).max(128).meta({ examples: [28] }),
  vlan_id: vlanId.default(null),
  name: name.default(""),
  description: description.default(""),
  status: z.enum(PREFIX_STATUSES).default("active"),
});
export type IpamNextPrefix = z.infer<typeof IpamNextPrefix>;

/** In the order of their numbers. */
export const IpamAddressesQuery = PageQuery.extend({
  site_id: Id.optional(),
  status: listQuery(ADDRESS_STATUSES).optional(),
  mac: MacInput.optional(),
  within: IpNetwork.optional(),
  search: z.string().min(1).max(255).optional(),
});
export type IpamAddressesQuery = z.infer<typeof IpamAddressesQuery>;

/** A device that has an address now. */
const Holder = z.object({ device_id: Id, site_id: Id, mac: z.string(), hostname: z.string(), last_seen: Instant });

/** An address of a prefix that is written down, had by devices, or both. */
export const IpamPrefixAddress = z.object({ ip: z.string(), recorded: IpamAddress.nullable(), observed: z.array(Holder) });
export type IpamPrefixAddress = z.infer<typeof IpamPrefixAddress>;


/** Where what is planned and what is seen differ. */
export const IpamConflict = z.object({
  /**
   * `wrong_mac`: another has the address than who is to have it. `reserved_in_use`: it is kept for nobody yet, and somebody
   * has it. `duplicate_address`: several devices of a site have it. `outside_prefixes`: no prefix has it.
   */
  kind: z.enum(CONFLICT_KINDS),
  ip: z.string(),
  site_id: Id,
  /** What is written down of it. */
  address_id: Id.nullable(),
  expected_mac: z.string().nullable(),
  observed: z.array(Holder),
});
export type IpamConflict = z.infer<typeof IpamConflict>;

export const IpamConflictsQuery = PageQuery.extend({ site_id: Id.optional(), kind: listQuery(CONFLICT_KINDS).optional() });
export type IpamConflictsQuery = z.infer<typeof IpamConflictsQuery>;

/** The first ten thousand of each kind; `truncated` where there are more. */
export const IpamConflicts = listEnvelope(IpamConflict).extend({ truncated: z.boolean() });
export type IpamConflicts = z.infer<typeof IpamConflicts>;

/** CSV as the export writes it: the first line names the columns. All of it is taken, or nothing. */
export const IpamImport = z.strictObject({
  csv: z.string().min(1).max(1_000_000).meta({ examples: ["prefix,name\r\n198.51.100.0/24,Branch\r\n"] }),
  /** Only says what would be done. */
  dry_run: z.boolean().default(false),
});
export type IpamImport = z.infer<typeof IpamImport>;

/** What an import did, in numbers of lines. */
export const IpamImported = z.object({ created: z.int(), updated: z.int(), unchanged: z.int(), dry_run: z.boolean() });
export type IpamImported = z.infer<typeof IpamImported>;
