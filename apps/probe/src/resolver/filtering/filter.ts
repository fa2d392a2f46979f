/** Judges queries by the block lists of this machine and those of the collector. Without a list, and while none was read, every name resolves. */
import { type AnswerFacts, createClientFinder, createVerdictEngine, type DnsQuery, type FindClient, type NameSet, type Verdict, type VerdictEngine } from "@lanthorn/dns";
import type { DnsQueryLevel } from "@lanthorn/contract/uplink";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { createSiteLists, type SiteContent } from "../../dns-lists/reading/site-lists.ts";
import type { NeighborTable } from "../clients/neighbor-table.ts";
import { CURRENT } from "../../dns-lists/shared-folder.ts";
import { joinRules, localRules } from "./filter-rules.ts";
import type { NameServerWish } from "../forwarding/name-servers.ts";
import { createNameLists } from "./name-lists.ts";
import type { FilterSettings, ListSettings } from "./settings.ts";

/** What judges. */
export interface Filter {
  /** @returns Null where nothing is filtered. */
  judgeQuestion(query: DnsQuery): Verdict | null;
  judgeAnswer(query: DnsQuery, question: Verdict, facts: AnswerFacts): Verdict;
  /** What rules say of the servers that answer for a name; null where none does. */
  readonly serverRules: NameServerWish | null;
  /** For people; "" where it is none of those that count now. */
  policyName(policyId: string | null): string;
  /** How much of what clients ask may be reported, as the collector says for the site; null where it says nothing. Numbers alone while what it says is there and was not read. */
  readonly queryLevel: DnsQueryLevel | null;
  /** Reads lists whose files have changed, and the collector's. Resolves when that is done; never rejects. */
  refresh(): Promise<void>;
  /** Reads the collector's lists where the daemon has left others: one look at a file otherwise. */
  readonly look: () => void;
  close(): Promise<void>;
}

/** What it is made of. */
export interface FilterParts {
  readonly lists: readonly ListSettings[];
  readonly settings: FilterSettings;
  /** Where the daemon leaves the collector's lists. */
  readonly collectorDirectory: string;
  readonly neighbors: Pick<NeighborTable, "macOf">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

interface Judge {
  readonly engine: VerdictEngine;
  /** Null where who asks makes no difference. */
  readonly clientOf: FindClient | null;
  /** Whether a MAC address tells who somebody is. */
  readonly hasMacs: boolean;
  readonly serverRules: NameServerWish | null;
}

/** @returns A filter that has read nothing yet. */
export function createFilter({ lists, settings, collectorDirectory, neighbors, clock, log }: FilterParts): Filter {
  const rules = localRules(lists, settings);
  const names = createNameLists(lists, settings.protected, { clock, log });
  const siteLists = createSiteLists({ directory: collectorDirectory, pointer: CURRENT, categories: null, maxRules: null }, log);
  const denies = settings.private_relay === "block" || settings.browser_dns === "block";
  let local: NameSet | null = null;
  let site: SiteContent | null = null;
  let isSiteUnread = siteLists.hasChanged();
  let judge: Judge | null = denies ? { engine: createVerdictEngine([], rules), clientOf: null, hasMacs: false, serverRules: null } : null;
  let running: Promise<void> = Promise.resolve();
  let isLooking = false;

  const rebuild = () => {
    if (site) {
      const { site_id: siteId, devices, vlans } = site.policy;
      judge = {
        engine: createVerdictEngine([...(local ? [local] : []), site.set], joinRules(rules, site.policy, siteId)), clientOf: createClientFinder({ siteId, devices, vlans }),
        hasMacs: devices.some(({ macs }) => macs.length > 0), serverRules: serverRulesOf([...(local ? [local] : []), site.set]),
      };
    } else judge = local || denies ? { engine: createVerdictEngine(local ? [local] : [], rules), clientOf: null, hasMacs: false, serverRules: serverRulesOf(local ? [local] : []) } : null;
  };
  const readLocal = async () => {
    const set = lists.length === 0 ? null : await names.refresh();
    if (set) local = set;
    return set !== null;
  };
  const readSite = async () => {
    const found = await siteLists.read();
    if (found === undefined) return false;
    [site, isSiteUnread] = [found, false];
    return true;
  };
  // One after the other: two threads at once would need the memory of two.
  const run = (...readings: readonly (() => Promise<boolean>)[]): Promise<void> => {
    const before = running;
    running = (async () => {
      await before;
      for (const read of readings) {
        try {
          if (await read()) rebuild();
        } catch (error) {
          log.error({ reason: describeError(error) }, "block lists could not be read; those before stay");
        }
      }
    })();
    return running;
  };
  const seen = (query: DnsQuery, { clientOf, hasMacs }: Judge): DnsQuery => {
    if (!clientOf) return query;
    const { name, type, atMs, isUdp, client } = query;
    return { name, type, atMs, isUdp, client: clientOf(client, hasMacs ? neighbors.macOf(client.address) : null) };
  };
  return {
    judgeQuestion: (query) => judge && judge.engine.judgeQuestion(seen(query, judge)),
    judgeAnswer: (query, question, facts) => judge?.engine.judgeAnswer(seen(query, judge), question, facts) ?? question,
    get serverRules() {
      return judge?.serverRules ?? null;
    },
    policyName: (policyId) => site?.policy.policies.find(({ id }) => id === policyId)?.name ?? rules.policies.find(({ id }) => id === policyId)?.name ?? "",
    get queryLevel() {
      return isSiteUnread ? "counts" : site?.policy.queries?.level ?? null;
    },
    refresh: () => run(readLocal, readSite),
    look() {
      if (isLooking || !siteLists.hasChanged()) return;
      isLooking = true;
      void run(() => readSite().finally(() => (isLooking = false)));
    },
    async close() {
      await Promise.all([names.close(), siteLists.close()]);
    },
  };
}

function serverRulesOf(sets: readonly NameSet[]): NameServerWish | null {
  const has = (trigger: "nsdname" | "nsip") => sets.some(({ triggers }) => triggers.some((one) => one.has(trigger)));
  const addresses = has("nsip");
  return addresses || has("nsdname") ? { addresses } : null;
}
