import type { IpamConflict } from "@lanthorn/contract";
import type { Kysely } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { IpamStore } from "./plan.ts";

type Kind = IpamConflict["kind"];

/** Where something is wrong; who is there is asked for those that are shown only. */
export interface Finding {
  readonly kind: Kind;
  readonly site_id: string;
  readonly ip_key: string;
  readonly address_id: string | null;
  readonly expected_mac: string | null;
}

/** Of each kind; what is more is not looked at, so that a plan that fits nothing costs no more than this. */
const MAX_FINDINGS = 10_000;

/** Of these kinds at all sites, in no order. */
export async function findConflicts(store: IpamStore, tenantId: string, kinds: readonly Kind[]): Promise<readonly Finding[]> {
  const sites = (await store.sites(tenantId)).map(({ id }) => id);
  return (await findConflictsAt(store, tenantId, { kinds, sites })).findings;
}

/** As `findConflicts`, at these sites only. @returns `truncated` where there are more than are counted. */
export async function findConflictsAt(
  store: Pick<IpamStore, "reads">, tenantId: string, { kinds, sites }: { readonly kinds: readonly Kind[]; readonly sites: readonly string[] },
): Promise<{ readonly findings: readonly Finding[]; readonly truncated: boolean }> {
  const found = await Promise.all(kinds.map((kind) => FINDERS[kind](store.reads, tenantId, sites)));
  return {
    findings: found.flatMap((findings) => findings.slice(0, MAX_FINDINGS)),
    truncated: found.some((findings) => findings.length > MAX_FINDINGS),
  };
}

type Find = (reads: Kysely<Schema>, tenantId: string, sites: readonly string[]) => Promise<readonly Finding[]>;

/** What is written down of an address, beside who has it now at a site. A deprecated word says nothing any more. */
const planned = (reads: Kysely<Schema>, tenantId: string, sites: readonly string[]) =>
  reads.selectFrom("ipam_addresses as plan").innerJoin("addresses as seen", (join) => join
    .onRef("seen.tenant_id", "=", "plan.tenant_id").onRef("seen.ip_key", "=", "plan.ip_key"))
    .select(["plan.id as address_id", "plan.mac as expected_mac", "seen.ip_key", "seen.site_id"]).distinct()
    .where("plan.tenant_id", "=", tenantId).where("plan.status", "<>", "deprecated").where("seen.current", "=", 1)
    .where("seen.site_id", "in", [...sites, ""])
    .where((eb) => eb.or([eb("plan.scope", "=", ""), eb("plan.scope", "=", eb.ref("seen.site_id"))]))
    .orderBy("seen.ip_key").limit(MAX_FINDINGS + 1);

const FINDERS: Readonly<Record<Kind, Find>> = {
  async wrong_mac(reads, tenantId, sites) {
    const rows = await planned(reads, tenantId, sites).where("plan.mac", "is not", null).where("seen.mac", "<>", "")
      .where((eb) => eb("plan.mac", "<>", eb.ref("seen.mac"))).execute();
    return rows.map((row) => ({ kind: "wrong_mac" as const, ...row }));
  },
  async reserved_in_use(reads, tenantId, sites) {
    const rows = await planned(reads, tenantId, sites).where("plan.mac", "is", null).where("plan.status", "=", "reserved").execute();
    return rows.map((row) => ({ kind: "reserved_in_use" as const, ...row }));
  },
  async duplicate_address(reads, tenantId, sites) {
    const rows = await reads.selectFrom("addresses").select(["ip_key", "site_id"]).where("tenant_id", "=", tenantId)
      .where("current", "=", 1)
      .where("ip_key", "<>", "").where("site_id", "in", [...sites, ""]).groupBy(["ip_key", "site_id"])
      .having((eb) => eb(eb.fn.count<number>("device_id").distinct(), ">", 1)).orderBy("ip_key").limit(MAX_FINDINGS + 1).execute();
    return rows.map((row) => ({ kind: "duplicate_address" as const, ...row, address_id: null, expected_mac: null }));
  },
  async outside_prefixes(reads, tenantId, sites) {
    const found: Finding[] = [];
    for (const siteId of sites) {
      const gaps = await gapsOf(reads, tenantId, siteId);
      for (const { after, before } of gaps) {
        if (found.length > MAX_FINDINGS) return found;
        const rows = await reads.selectFrom("addresses").select(["ip_key", "site_id"]).distinct().where("tenant_id", "=", tenantId)
          .where("site_id", "=", siteId).where("current", "=", 1).where("ip_key", ">", after).where("ip_key", "<", before)
          .orderBy("ip_key").limit(MAX_FINDINGS + 1).execute();
        found.push(...rows.map((row) => ({ kind: "outside_prefixes" as const, ...row, address_id: null, expected_mac: null })));
      }
    }
    return found;
  },
};

/**
 * What lies between a site's prefixes, in the order of the addresses. Where there is no prefix at all nothing is planned, and
 * nothing is outside. Of prefixes that nest the outer ones count; link-local addresses are no plan's.
 */
async function gapsOf(
  reads: Kysely<Schema>, tenantId: string, siteId: string,
): Promise<readonly { readonly after: string; readonly before: string }[]> {
  const prefixes = await reads.selectFrom("ipam_prefixes").select(["first_key", "last_key"]).where("tenant_id", "=", tenantId)
    .where("scope", "in", ["", siteId]).where("status", "<>", "deprecated").orderBy("sort_key").execute();
  if (prefixes.length === 0) return [];
  const families = [["4", "4g", LINK_LOCAL_4], ["6", "6g", LINK_LOCAL_6]] as const;
  return families.flatMap(([begin, finish, linkLocal]) => {
    const own = [
      ...prefixes.filter(({ first_key: key }) => key.startsWith(begin)), linkLocal,
    ].toSorted((a, b) => (a.first_key < b.first_key ? -1 : 1));
    const gaps: { readonly after: string; readonly before: string }[] = [];
    let after: string = begin;
    for (const { first_key: first, last_key: last } of own) {
      if (first > after) gaps.push({ after, before: first });
      if (last > after) after = last;
    }
    return [...gaps, { after, before: finish }];
  });
}

/** 169.254.0.0/16 and fe80::/10. @see RFC 3927 section 2.1, RFC 4291 section 2.5.6 */
const LINK_LOCAL_4 = { first_key: "4a9fe0000", last_key: "4a9feffff" } as const;
const LINK_LOCAL_6 = { first_key: `6fe80${"0".repeat(28)}`, last_key: `6febf${"f".repeat(28)}` } as const;
