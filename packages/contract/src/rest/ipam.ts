import * as z from "zod";
import { CONFLICT_KINDS, Id, Instant, IpAddress, IpNetwork } from "../values.ts";
import { BooleanQuery, listEnvelope, listQuery, PageQuery } from "./envelopes.ts";
import { MacInput } from "./mac.ts";

/** What a planned network is for. A `container` only holds other prefixes. */
export const PREFIX_STATUSES = ["active", "container", "reserved", "deprecated"] as const;
/** What a recorded address is for; `dhcp`: a DHCP server assigns it. */
export const ADDRESS_STATUSES = ["assigned", "reserved", "dhcp", "deprecated"] as const;

/** A planned network. Prefixes nest; the same prefix may exist once for each site, and once for all sites. */
export const IpamPrefix = z.object({
  id: Id.describe("The prefix's id."),
  prefix: z.string().describe("The network, without bits behind the prefix: `10.0.0.0/24`."),
  family: z.union([z.literal(4), z.literal(6)]).describe("4 for IPv4, 6 for IPv6."),
  site_id: Id.nullable().describe("The site that it belongs to. Null for all sites."),
  parent_id: Id.nullable().describe("The smallest prefix that contains it. Null where none does."),
  vlan_id: z.int().nullable().describe("The VLAN, 1 to 4094. Null for none."),
  name: z.string().describe("The prefix's name. Empty for none."),
  description: z.string().describe("A description. Empty for none."),
  status: z.enum(PREFIX_STATUSES).describe("`container`: it only holds other prefixes. `reserved`: for later. `deprecated`: no longer in use."),
  created_at: Instant.describe("When it was created."),
  updated_at: Instant.describe("When it was last changed."),
});
export type IpamPrefix = z.infer<typeof IpamPrefix>;

const name = z.string().trim().max(255).describe("The name.");
const description = z.string().max(4096).describe("A description.");
const vlanId = z.int().min(1).max(4094).nullable().describe("The VLAN, 1 to 4094. Null for none.");
const prefixStatus = z.enum(PREFIX_STATUSES)
  .describe("`container`: it only holds other prefixes. `reserved`: for later. `deprecated`: no longer in use.");
const addressStatus = z.enum(ADDRESS_STATUSES)
  .describe("`assigned`: in use. `reserved`: for later. `dhcp`: a DHCP server assigns it. `deprecated`: no longer in use.");

/** A network to be planned. `CONFLICT` where the same one exists at that site, or for all sites. */
export const IpamPrefixCreate = z.strictObject({
  prefix: IpNetwork.describe("The network, as `192.0.2.0/24`. Bits behind the prefix are dropped.").meta({ examples: ["192.0.2.0/24"] }),
  site_id: Id.nullable().default(null).describe("The site that it belongs to. Null for all sites."),
  vlan_id: vlanId.default(null),
  name: name.default(""),
  description: description.default(""),
  status: prefixStatus.default("active"),
});
export type IpamPrefixCreate = z.infer<typeof IpamPrefixCreate>;

/** Fields left out stay. The prefix itself and its site cannot be changed: create another. */
export const IpamPrefixUpdate = z.strictObject({
  vlan_id: vlanId.optional(), name: name.optional(), description: description.optional(), status: prefixStatus.optional(),
});
export type IpamPrefixUpdate = z.infer<typeof IpamPrefixUpdate>;

/** In the order of their addresses, larger ones first. */
export const IpamPrefixesQuery = PageQuery.extend({
  site_id: Id.optional().describe("Prefixes of this site, without those of all sites."),
  status: listQuery(PREFIX_STATUSES).optional().describe("Prefixes in these states, with commas between them."),
  vlan_id: z.coerce.number().int().min(1).max(4094).optional().describe("Prefixes of this VLAN."),
  family: z.enum(["4", "6"]).optional().describe("`4` for IPv4, `6` for IPv6."),
  within: IpNetwork.optional().describe("This prefix and those that it contains."),
  search: z.string().min(1).max(255).optional().describe("Part of the prefix, the name or the description, in any case."),
});
export type IpamPrefixesQuery = z.infer<typeof IpamPrefixesQuery>;

/** How much of a prefix is used. Numbers of addresses are decimal texts, since those of IPv6 exceed JSON numbers. */
export const IpamUtilization = z.object({
  size: z.string().regex(/^\d+$/).describe("Addresses that hosts can have, as a decimal text: those of IPv6 exceed JSON numbers."),
  used: z.int().min(0).describe("Addresses that are recorded and not deprecated, or that a device has now. Each counts once."),
  recorded: z.int().min(0).describe("Addresses that are recorded."),
  observed: z.int().min(0).describe("Addresses that devices have now."),
  ratio: z.number().min(0).max(1).describe("`used` as a part of `size`, 0 to 1."),
  children: z.int().min(0).describe("Prefixes directly below."),
  children_ratio: z.number().min(0).max(1).describe("The part of the prefix that they take, 0 to 1."),
});
export type IpamUtilization = z.infer<typeof IpamUtilization>;

/** A recorded address. */
export const IpamAddress = z.object({
  id: Id.describe("The record's id."),
  ip: z.string().describe("The IPv4 or IPv6 address."),
  family: z.union([z.literal(4), z.literal(6)]).describe("4 for IPv4, 6 for IPv6."),
  site_id: Id.nullable().describe("The site that it belongs to. Null for no site in particular."),
  prefix_id: Id.nullable().describe("The smallest recorded prefix that contains it. Null where none does."),
  status: addressStatus,
  mac: z.string().nullable().describe("The MAC address that should have it; any other is a conflict. Null for any."),
  hostname: z.string().describe("The host name for the address. Empty for none."),
  description: z.string().describe("A description. Empty for none."),
  created_at: Instant.describe("When it was recorded."),
  updated_at: Instant.describe("When it was last changed."),
});
export type IpamAddress = z.infer<typeof IpamAddress>;

const expectedMac = MacInput.nullable().describe("The MAC address that should have it; any other is a conflict. Null for any.");
const hostname = z.string().trim().max(255).describe("The host name for the address.");
const ADDRESS_FIELDS = {
  status: addressStatus.default("assigned"),
  mac: expectedMac.default(null),
  hostname: hostname.default(""),
  description: description.default(""),
};

/** An address to be recorded. `CONFLICT` where it is recorded at that site already. */
export const IpamAddressCreate = z.strictObject({
  ip: IpAddress.describe("The IPv4 or IPv6 address."),
  site_id: Id.nullable().default(null).describe("The site that it belongs to. Null for no site in particular."),
  ...ADDRESS_FIELDS,
});
export type IpamAddressCreate = z.infer<typeof IpamAddressCreate>;

/** Fields left out stay. */
export const IpamAddressUpdate = z.strictObject({
  status: addressStatus.optional(), mac: expectedMac.optional(), hostname: hostname.optional(),
  description: description.optional(),
});
export type IpamAddressUpdate = z.infer<typeof IpamAddressUpdate>;

/** What to record for the next free address. */
export const IpamNextAddress = z.strictObject(ADDRESS_FIELDS);
export type IpamNextAddress = z.infer<typeof IpamNextAddress>;

/** The size of the requested part of a prefix, and what to record for it. */
export const IpamNextPrefix = z.strictObject({
  length: z.int().min(1).max(128).describe("Its prefix length, longer than that of the prefix it is taken from.").meta({ examples: [28] }),
  vlan_id: vlanId.default(null),
  name: name.default(""),
  description: description.default(""),
  status: prefixStatus.default("active"),
});
export type IpamNextPrefix = z.infer<typeof IpamNextPrefix>;

/** In the order of their numbers. */
export const IpamAddressesQuery = PageQuery.extend({
  site_id: Id.optional().describe("Addresses of this site."),
  status: listQuery(ADDRESS_STATUSES).optional().describe("Addresses in these states, with commas between them."),
  mac: MacInput.optional().describe("Addresses that this MAC address should have."),
  within: IpNetwork.optional().describe("Addresses in this network."),
  search: z.string().min(1).max(255).optional().describe("Part of the address, the name or the description, in any case."),
});
export type IpamAddressesQuery = z.infer<typeof IpamAddressesQuery>;

/** A device that has an address now. */
const Holder = z.object({
  device_id: Id.describe("The device's id."),
  site_id: Id.describe("The site where it is."),
  mac: z.string().describe("The MAC address of the interface that has it. Empty behind a router."),
  hostname: z.string().describe("The device's name. Empty while unknown."),
  last_seen: Instant.nullable().describe("When it was last seen with this address."),
});

/** An address of a prefix that is recorded, used by devices, or both. */
export const IpamPrefixAddress = z.object({
  ip: z.string().describe("The address."),
  recorded: IpamAddress.nullable().describe("Its record. Null where there is none."),
  observed: z.array(Holder).describe("Devices that have it now."),
});
export type IpamPrefixAddress = z.infer<typeof IpamPrefixAddress>;


/** A difference between the plan and the network. */
export const IpamConflict = z.object({
  kind: z.enum(CONFLICT_KINDS).describe(
    "`wrong_mac`: another MAC address uses it than the recorded one. `reserved_in_use`: it is reserved, and a device uses it. "
      + "`duplicate_address`: several devices of a site use it. `outside_prefixes`: no recorded prefix contains it.",
  ),
  ip: z.string().describe("The address."),
  site_id: Id.describe("The site where it was seen."),
  address_id: Id.nullable().describe("The address's record. Null where there is none."),
  expected_mac: z.string().nullable().describe("The MAC address that should have it. Null where none is recorded."),
  observed: z.array(Holder).describe("Devices that have it now."),
});
export type IpamConflict = z.infer<typeof IpamConflict>;

/** All kinds and all sites unless given; ordered by address. */
export const IpamConflictsQuery = PageQuery.extend({
  site_id: Id.optional().describe("Conflicts at this site."),
  kind: listQuery(CONFLICT_KINDS).optional().describe("Conflicts of these kinds, with commas between them."),
});
export type IpamConflictsQuery = z.infer<typeof IpamConflictsQuery>;

/** The first ten thousand of each kind; `truncated` where there are more. */
export const IpamConflicts = listEnvelope(IpamConflict).extend({
  truncated: z.boolean().describe("Whether there are more than the first ten thousand of a kind."),
});
export type IpamConflicts = z.infer<typeof IpamConflicts>;

/** CSV as the export writes it: the first line names the columns. All of it is imported, or nothing. */
export const IpamImport = z.strictObject({
  csv: z.string().min(1).max(1_048_576).describe("CSV text, as the export writes it. Its first line names the columns.")
    .meta({ examples: ["prefix,name\r\n198.51.100.0/24,Branch\r\n"] }),
  dry_run: z.boolean().default(false).describe("True: only report what would be done."),
});
export type IpamImport = z.infer<typeof IpamImport>;

/** Beside a body of `text/csv`, in which `dry_run` has no place. */
export const IpamImportQuery = z.object({
  dry_run: BooleanQuery.default(false).describe("True: only report what would be done."),
});
export type IpamImportQuery = z.infer<typeof IpamImportQuery>;

/** What an import did, in numbers of lines. */
export const IpamImported = z.object({
  created: z.int().describe("Lines that created a record."),
  updated: z.int().describe("Lines that changed a record."),
  unchanged: z.int().describe("Lines whose record exists already."),
  dry_run: z.boolean().describe("True: nothing was changed; this is what would be done."),
});
export type IpamImported = z.infer<typeof IpamImported>;
