import type { HoneypotProposal, HoneypotProposalsQuery, List } from "@lanthorn/contract";
import { derivedId } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { siteExists } from "../../../db/locks/site-exists.ts";
import type { Schema } from "../../../db/schema.ts";
import { requireSite } from "../../../gateway/errors.ts";
import { pageOfAll } from "../../../gateway/page.ts";
import { type Candidate, candidatesOf, nextName } from "./groups.ts";
import type { ProposalsStore } from "./store.ts";

/** What decoys of a site might be. */
export interface ProposalsService {
  /** By site, that of which there are most devices first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: HoneypotProposalsQuery): Promise<List<HoneypotProposal>>;
}

/** Of all sites together; each needs some queries. */
const MAX_PROPOSALS = 100;

/** @param deps.freeAddress An address of the plan that nobody has. */
export function createProposalsService({ reads, store, freeAddress }: {
  readonly reads: Kysely<Schema>; readonly store: ProposalsStore;
  readonly freeAddress: (wish: { readonly tenantId: string; readonly siteId: string; readonly near: string; readonly except: readonly string[] }) => Promise<{ readonly ip: string; readonly prefixLength: number } | null>;
}): ProposalsService {
  const propose = async (tenantId: string, candidate: Candidate, given: string[]): Promise<HoneypotProposal> => {
    const { siteId, persona, label, devices, block } = candidate;
    const members = await store.members(tenantId, candidate);
    const [highest] = members;
    const free = highest ? await freeAddress({ tenantId, siteId, near: highest.ip, except: given }) : null;
    if (free) given.push(free.ip);
    const name = nextName(members.map(({ hostname }) => hostname), `${persona}-${devices + 1}`);
    const address = free && `${free.ip}/${free.prefixLength}`;
    return {
      id: derivedId("honeypot_proposal", siteId, persona), site_id: siteId, persona, name, devices, address, mac_block: block, reason: `you have ${devices} ${label}: be ${ordinal(devices + 1)}`,
      configuration: [
        "[[decoys]]", `name = ${JSON.stringify(name)}`, `persona = ${JSON.stringify(persona)}`, `address = ${JSON.stringify(address ?? "ADDRESS/LENGTH")}`, 'interface = "INTERFACE"',
        ...(block === null ? [] : [`mac = ${JSON.stringify(block)}`]), "",
      ].join("\n"),
    };
  };
  return {
    async list(tenantId, query) {
      await requireSite({ siteExists: (...of) => siteExists(reads, ...of) }, tenantId, query.site_id);
      const candidates = candidatesOf(await store.groups(tenantId, query.site_id)).slice(0, MAX_PROPOSALS);
      const all: HoneypotProposal[] = [];
      const given = new Map<string, string[]>();
      for (const candidate of candidates) {
        const ofSite = given.get(candidate.siteId) ?? [];
        given.set(candidate.siteId, ofSite);
        all.push(await propose(tenantId, candidate, ofSite));
      }
      return pageOfAll(all, query, ({ id }) => id);
    },
  };
}

/** `a third`, `a fourth`, `the 21st`. */
function ordinal(number: number): string {
  const words = ["third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"];
  const word = words[number - 3];
  if (word !== undefined) return `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;
  const ending = number % 100 >= 11 && number % 100 <= 13 ? "th" : ["th", "st", "nd", "rd"][number % 10] ?? "th";
  return `the ${number}${ending}`;
}
