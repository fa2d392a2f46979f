import * as z from "zod";
import { DNS_QUERY_LEVELS } from "../../events/dns-queries.ts";
import { Id, IpAddress, MacAddress } from "../../values.ts";

/**
 * The bundle `dns`: which names the resolver of a site blocks, and for whom. Each site has its own. Its parts:
 *
 * - `lists.json`: `DnsBundleLists`
 * - `policy.json`: `DnsBundlePolicy`; what is allowed for an hour changes this part alone
 * - `lists/<…>.gz`: text of a list, packed by gzip. A list is its parts one after the other. Its lines are those that were published, without
 *   comments; a line `#day N` says that the lines after it were first seen on that day, counted since 1970. Each part begins with one
 */

/** Parts that are no text of lists. */
export const DNS_BUNDLE_FILES = { lists: "lists.json", policy: "policy.json" } as const;
/** Where the parts with names are. */
export const DNS_BUNDLE_LISTS = "lists/";
/** What a line begins with that says when those after it were first seen. */
export const DNS_LIST_DAY = "#day ";
/** Lists that a site can have. */
export const MAX_DNS_LISTS = 50;
/** Policies of a tenant. */
export const MAX_DNS_POLICIES = 200;
/** Rules, allowances and pauses of a tenant together. */
export const MAX_DNS_DECISIONS = 5000;
/** Devices that policies of a site name, by themselves or by a tag. */
export const MAX_DNS_DEVICES = 10_000;
/** Networks of VLANs that policies of a site name. */
export const MAX_DNS_VLAN_NETWORKS = 2000;
/** A part of a list when it is unpacked, in bytes. */
export const DNS_PART_MAX_BYTES = 4 * 1024 * 1024;
/** All lists of a site when they are unpacked, in bytes: five million names. */
export const DNS_LISTS_MAX_BYTES = 160 * 1024 * 1024;

/** How a list is written. */
export const DNS_LIST_FORMATS = ["hosts", "domains", "wildcard", "adblock", "dnsmasq", "rpz"] as const;
/** How blocked names are answered, whatever type is asked for. */
export const DNS_ANSWERS = ["nxdomain", "zero", "nodata", "refused", "sinkhole"] as const;

const ListId = z.string().min(1).max(64);
const Text = (max: number) => z.string().min(1).max(max);

/** Lists in the order in which they are judged: response policy zones ask the first before the second. */
export const DnsBundleLists = z.strictObject({
  v: z.literal(1),
  site_id: Id,
  lists: z.array(z.strictObject({
    id: ListId, name: Text(100), category: Text(64), format: z.enum(DNS_LIST_FORMATS),
    /** Of a response policy zone, where its text does not name it. */
    origin: z.string().max(253).nullable(),
    /** Whether it may answer with records of its own. */
    may_rewrite: z.boolean(),
    /** How many rules it has. */
    rules: z.int().min(0),
    parts: z.array(z.string().max(200)).max(2000),
  })).max(MAX_DNS_LISTS + 1),
});
export type DnsBundleLists = z.infer<typeof DnsBundleLists>;

const Minutes = z.int().min(0).max(1440);
const Schedule = z.strictObject({
  time_zone: Text(64),
  /** Sunday is 0. */
  spans: z.array(z.strictObject({ days: z.array(z.int().min(0).max(6)).max(7), from_minute: Minutes, to_minute: Minutes })).max(50),
});

const Vlan = z.int().min(1).max(4094);
const Scope = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("device"), id: Id }),
  z.strictObject({ kind: z.literal("group"), id: Text(64) }),
  z.strictObject({ kind: z.literal("vlan"), vlan: Vlan }),
  z.strictObject({ kind: z.literal("site") }),
  z.strictObject({ kind: z.literal("everyone") }),
]);
/** For whom something holds; sites and VLANs are those of the bundle's site. */
export type DnsBundleScope = z.infer<typeof Scope>;

const Choice = z.enum(["allow", "block"]);
const EpochMs = z.int().min(0);

/** What an operator has decided, as far as it is for this site. */
export const DnsBundlePolicy = z.strictObject({
  v: z.literal(1),
  site_id: Id,
  policies: z.array(z.strictObject({
    id: Text(64), name: Text(100), scope: Scope, mode: z.enum(["enforce", "observe"]),
    answer: z.enum(DNS_ANSWERS), sinkhole_ipv4: z.ipv4().nullable(), sinkhole_ipv6: z.ipv6().nullable(), private_relay: Choice, browser_dns: Choice,
    lists: z.array(z.strictObject({ list_id: ListId, mode: z.enum(["enforce", "observe"]), schedule: Schedule.nullable() })).max(MAX_DNS_LISTS + 1),
  })).max(MAX_DNS_POLICIES + 1),
  allowances: z.array(z.strictObject({ id: Id, name: Text(253), has_subdomains: z.boolean(), scope: Scope, until_ms: EpochMs.nullable() })).max(MAX_DNS_DECISIONS),
  pauses: z.array(z.strictObject({ scope: Scope, until_ms: EpochMs })).max(MAX_DNS_DECISIONS),
  /** Devices that scopes name by their id or a tag, with the addresses that they have. */
  devices: z.array(z.strictObject({
    id: Id, name: z.string().max(255), groups: z.array(Text(64)).max(64), ips: z.array(IpAddress).max(64), macs: z.array(MacAddress).max(64),
  })).max(MAX_DNS_DEVICES),
  /** Networks of the VLANs that scopes name, as the site's address plan has them. Left out where there are none: probes of before do not know the key. */
  vlans: z.array(z.strictObject({ vlan: Vlan, network: z.union([z.cidrv4(), z.cidrv6()]) })).max(MAX_DNS_VLAN_NETWORKS).optional(),
  /** How much of what clients ask may be reported, at most. Left out where the resolver's own file alone says it, for the same reason. */
  queries: z.strictObject({ level: z.enum(DNS_QUERY_LEVELS) }).optional(),
});
export type DnsBundlePolicy = z.infer<typeof DnsBundlePolicy>;

/**
 * Reads the parts of a bundle whose manifest and digests have been verified; not the text of its lists.
 * @param files By path.
 * @returns What it has, or in words what is wrong with it. It never throws.
 */
export function readDnsBundle(files: ReadonlyMap<string, Uint8Array>): { readonly ok: true; readonly lists: DnsBundleLists; readonly policy: DnsBundlePolicy } | { readonly ok: false; readonly message: string } {
  const [lists, policy] = [DnsBundleLists.safeParse(jsonOf(files.get(DNS_BUNDLE_FILES.lists))), DnsBundlePolicy.safeParse(jsonOf(files.get(DNS_BUNDLE_FILES.policy)))];
  if (!lists.success) return { ok: false, message: `${DNS_BUNDLE_FILES.lists} is missing or not of this version` };
  if (!policy.success) return { ok: false, message: `${DNS_BUNDLE_FILES.policy} is missing or not of this version` };
  const missing = lists.data.lists.flatMap(({ parts }) => parts).find((path) => !path.startsWith(DNS_BUNDLE_LISTS) || !files.has(path));
  return missing === undefined ? { ok: true, lists: lists.data, policy: policy.data } : { ok: false, message: `${missing} is named and not there` };
}

function jsonOf(bytes: Uint8Array | undefined): unknown {
  try {
    return bytes === undefined ? undefined : JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
