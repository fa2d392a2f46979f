import * as z from "zod";
import { DNS_LIST_FORMATS } from "../uplink/dns/bundle.ts";
import { Id, Instant } from "../values.ts";

/** Versions of a block list that are kept. */
export const MAX_DNS_VERSIONS = 3;
/** Characters of a list that are sent in a body. */
export const MAX_DNS_LOCAL_CHARACTERS = 524_288;

/** Where a list comes from. `local`: it is sent in the body. */
export const DNS_LIST_KINDS = ["url", "file", "local"] as const;

/** What keys of zone transfers sign with. @see RFC 8945 section 6 */
export const TSIG_ALGORITHMS = ["hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"] as const;

/** A version of a block list. Counts are against the version that was active when it came. */
export const DnsListVersion = z.object({
  version: z.int().min(1).describe("Its number. It rises with each version."),
  is_active: z.boolean().describe("Whether it is the one that counts."),
  is_held: z.boolean().describe("Whether it is held back: it shrinks by half, or blocks public suffixes or protected names. `note` says which; activate it if it is right."),
  note: z.string().describe("What there is to know of it. Empty for nothing."),
  digest: z.string().describe("SHA-256 of its lines, comments left out, in hexadecimal."),
  format: z.enum(DNS_LIST_FORMATS).describe("How it is written."),
  bytes: z.int().min(0).describe("Its size here, packed, in bytes."),
  rules: z.int().min(0).describe("Rules in it: nearly always one for each name."),
  refused: z.int().min(0).describe("Lines that were not understood."),
  refusals: z.array(z.object({
    line: z.int().describe("The line as it was published, from 1."), text: z.string().describe("Its beginning."), reason: z.string().describe("What it is or does."),
  })).describe("The first lines that were not understood, at most 20."),
  added: z.int().min(0).describe("Lines that the version before did not have."),
  removed: z.int().min(0).describe("Lines of the version before that it does not have."),
  created_at: Instant.describe("When it came."),
  activated_at: Instant.nullable().describe("When it became active last. Null where it never was."),
});
export type DnsListVersion = z.infer<typeof DnsListVersion>;

/** Names of one source that resolvers block. */
export const DnsList = z.object({
  id: Id.describe("The list's id."),
  name: z.string().describe("Its name, which clients see in the extended error of a blocked name."),
  site_id: Id.nullable().describe("The site whose resolvers have it. Null for all sites."),
  category: z.string().describe("What its names are: `advertising`, `phishing`, `malware`, `command-and-control`, `legal`, or another word."),
  kind: z.enum(DNS_LIST_KINDS).describe("`url`: it is downloaded. `file`: it is read from the collector's folder of lists. `local`: it is sent by the API."),
  url: z.string().nullable().describe("Where it is downloaded or transferred from. Null for other kinds."),
  tsig: z.object({ name: z.string().describe("The key's name."), algorithm: z.enum(TSIG_ALGORITHMS).describe("What it signs with.") }).nullable()
    .describe("The key that transfers are signed with (RFC 8945), without its secret. Null for none."),
  file: z.string().nullable().describe("The file's name. Null for other kinds."),
  format: z.enum(DNS_LIST_FORMATS).nullable().describe("How it is written. Null: found out from its beginning."),
  origin: z.string().nullable().describe("Of a response policy zone that does not name itself, its name. Null for none."),
  may_rewrite: z.boolean().describe("Whether it may answer with records of its own."),
  checksum_url: z.string().nullable().describe("Where the MD5 or SHA-256 of the download is. Null where it is not compared."),
  interval_hours: z.number().describe("How often it is asked for."),
  enabled: z.boolean().describe("Whether it is used and asked for."),
  automatic: z.boolean().describe("Whether a new version becomes active by itself, unless it is held back."),
  active: DnsListVersion.nullable().describe("The version that counts. Null before the first."),
  checked_at: Instant.nullable().describe("When its source last answered well. Null for never."),
  next_at: Instant.nullable().describe("When it is asked for next. Null for never."),
  error: z.string().nullable().describe("Why the last update failed; the active version stays. Null where it did not."),
  created_by: z.string().describe("Name of the user who made it."),
  created_at: Instant.describe("When it was made."),
});
export type DnsList = z.infer<typeof DnsList>;

const ListFields = {
  name: z.string().trim().min(1).max(100).describe("Its name, for people, clients included."),
  category: z.string().trim().regex(/^[a-z][a-z0-9-]{0,63}$/, "small letters, digits and hyphens, a letter first").describe("What its names are, as `advertising` or `malware`. Policies choose lists by it."),
  format: z.enum(DNS_LIST_FORMATS).nullable().describe("How it is written. Null: found out from its beginning."),
  may_rewrite: z.boolean().describe("Whether it may answer with records of its own. A list that is downloaded should not."),
  checksum_url: z.url({ protocol: /^https?$/ }).max(2048).nullable().describe("Where the MD5 or SHA-256 of the download is, in hexadecimal at its beginning. Null for no comparison."),
  interval_hours: z.number().min(1).max(8760).describe("How often it is asked for."),
  enabled: z.boolean().describe("Whether it is used and asked for."),
  automatic: z.boolean().describe("Whether a new version becomes active by itself. One that looks wrong is held back all the same."),
};
/** A zone's place: `axfr://server:port/zone`. */
const ZONE_PLACE = /^axfr:\/\/[^/?#\s]+\/[a-z0-9_][a-z0-9_.-]{0,251}[a-z0-9]\.?$/i;
const Tsig = z.strictObject({
  name: z.string().regex(/^[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9.])?$/i, "letters, digits, hyphens and dots").describe("The key's name, as the server has it."),
  algorithm: z.enum(TSIG_ALGORITHMS).default("hmac-sha256").describe("What it signs with."),
  secret: z.base64().min(4).max(512).describe("The key, in Base64. It is kept sealed and never shown again."),
});
const Names = z.string().min(1).max(MAX_DNS_LOCAL_CHARACTERS).describe("The list itself, in any of the formats, one name a line.");

/** Exactly one of `url`, `file` and `names`. */
export const DnsListCreate = z.strictObject({
  name: ListFields.name,
  category: ListFields.category.default("other"),
  site_id: Id.optional().describe("Only for this site. For all sites if left out."),
  url: z.url({ protocol: /^(?:https?|axfr)$/ }).max(2048).refine((url) => !/^axfr:/i.test(url) || ZONE_PLACE.test(url), "a zone's place is axfr://server:port/zone").optional()
    .describe("Where it is downloaded from: text, or text packed by gzip; or as `axfr://server:port/zone` from where a response policy zone is transferred (RFC 5936, 1995)."),
  tsig: Tsig.optional().describe("The key that transfers of a zone are signed with (RFC 8945)."),
  file: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,120}$/).optional().describe("Name of a file in the collector's folder `dns-lists`."),
  names: Names.optional(),
  format: ListFields.format.default(null),
  origin: z.string().trim().min(1).max(253).optional().describe("Of a response policy zone that does not name itself, its name."),
  may_rewrite: ListFields.may_rewrite.default(false),
  checksum_url: ListFields.checksum_url.optional(),
  interval_hours: ListFields.interval_hours.default(24),
  enabled: ListFields.enabled.default(true),
  automatic: ListFields.automatic.default(true),
}).refine(({ url = "", tsig, checksum_url: checksum }) => /^axfr:/i.test(url) ? (checksum ?? null) === null : tsig === undefined, "tsig is for zones that are transferred, checksum_url for files")
  .refine(({ url, file, names }) => [url, file, names].filter((one) => one !== undefined).length === 1, "exactly one of url, file and names is needed");
export type DnsListCreate = z.infer<typeof DnsListCreate>;

/** Fields left out stay. */
export const DnsListUpdate = z.strictObject({
  ...z.object(ListFields).partial().shape,
  tsig: Tsig.nullable().optional().describe("Of a zone that is transferred: the key that transfers are signed with from now on. Null for none."),
  names: Names.optional().describe("Of a list of the kind `local`: its names from now on, in a version of their own."),
});
export type DnsListUpdate = z.infer<typeof DnsListUpdate>;
