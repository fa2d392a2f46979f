/** Who asks for, or speaks to, names and addresses that lists of malware, phishing or command and control have. */
import {
  type AnswerFacts, createClientFinder, createVerdictEngine, type DnsClient, type DnsQuery, type NameSet, readAnswerFacts, rulesOfSite, type Verdict, type VerdictEngine,
} from "@lanthorn/dns";
import { type DnsMessage, DNS_TYPE, formatIp } from "@lanthorn/packets";
import { severityOf, techniquesOf } from "../../dns-lists/category.ts";
import type { SiteContent } from "../../dns-lists/reading/site-lists.ts";
import { worstRule } from "../../dns-lists/worst-rule.ts";
import type { DnsFinding } from "../../dns-threats/finding.ts";
import { typeName } from "../../dns-threats/suspicion.ts";

/** Where a name was seen. Addresses are four or sixteen bytes. */
export interface NameSighting {
  readonly client: Uint8Array;
  readonly server: Uint8Array;
  /** Microseconds since the epoch. */
  readonly at: number;
}

/** Compares what clients ask and say with lists. */
export interface ListedWatch {
  /** These lists count from now on; null for none. */
  use(content: SiteContent | null): void;
  /** A question, or an answer with what it leads to. */
  exchange(message: DnsMessage, sighting: NameSighting): void;
  /** The name that a client asks a server for. @param how For people: `TLS`. */
  named(name: string, how: string, sighting: NameSighting): void;
  /** Names of the lists; 0 while there are none. */
  readonly names: number;
  /** What was found, since it was made. */
  readonly found: number;
}

const EVERYONE = { kind: "everyone" } as const;
const QUERY_OPCODE = 0;
const DAY_MS = 86_400_000;
const TO_MILLISECONDS = 1000;
const NO_FACTS: AnswerFacts = { names: [], addresses: [], nameServers: [] };

interface Judge {
  readonly set: NameSet;
  readonly engine: VerdictEngine;
  readonly clientOf: (client: DnsClient) => DnsClient;
  readonly siteId: string;
}

/**
 * @param deps.allow Domains of which nothing is reported, with all below them.
 * @param deps.onFinding Is called while the frame that shows it is analyzed; its `packet` is null.
 */
export function createListedWatch({ allow, onFinding }: { readonly allow: readonly string[]; readonly onFinding: (finding: DnsFinding) => void }): ListedWatch {
  let judge: Judge | null = null;
  let found = 0;

  function queryOf({ siteId, clientOf }: Judge, name: string, type: number, { client: address, at }: NameSighting): DnsQuery {
    const client = clientOf({ deviceId: null, groupIds: [], vlanId: null, siteId, address, names: [] });
    return { name, type, client, atMs: at / TO_MILLISECONDS, isUdp: false };
  }

  function report(verdict: Verdict, { name: asked, type, atMs }: DnsQuery, { client, server }: NameSighting, how: string | null): void {
    const rule = worstRule(verdict);
    const severity = rule && severityOf(rule.category);
    if (!rule || !severity) return;
    const { listName, category, record, firstSeenDay } = rule;
    const name = asked.toLowerCase();
    const blockedRecord = record.section === "question" ? null : record.value;
    found += 1;
    onFinding({
      mode: "passive", campaign: listName, category, action: "reported", severity, times: 1, at: atMs, clientIp: formatIp(client), serverIp: formatIp(server), name,
      type: how === null ? typeName(type) : "", samples: [name], reason: `${how === null ? "" : `Asked for in ${how}: `}${blockedRecord ?? name} is in the list ${listName}`, feed: listName,
      lists: [...new Set(verdict.matches.filter(({ effect }) => effect.kind !== "allow").map((one) => one.listName))], policy: "", blockedRecord,
      listedAt: firstSeenDay > 0 ? firstSeenDay * DAY_MS : null, techniques: techniquesOf(category), packet: null,
    });
  }

  return {
    get names() {
      return judge?.set.size ?? 0;
    },
    get found() {
      return found;
    },
    use: (content) => void (judge = content && judgeOf(content, allow)),
    exchange(message, sighting) {
      const [question] = message.questions;
      if (!judge || !question || message.opcode !== QUERY_OPCODE) return;
      const facts = message.isResponse ? readAnswerFacts(message) : NO_FACTS;
      if (!isListed(judge, question.name, facts, sighting)) return;
      const query = queryOf(judge, question.name, question.type, sighting);
      const asked = judge.engine.judgeQuestion(query);
      // The question was reported when it was asked; only what the answer leads to is new.
      if (!message.isResponse) report(asked, query, sighting, null);
      else if (!asked.isFinal) report(judge.engine.judgeAnswer(query, asked, facts), query, sighting, null);
    },
    named(name, how, sighting) {
      const facts = { ...NO_FACTS, addresses: [sighting.server] };
      if (!judge || !isListed(judge, name, facts, sighting)) return;
      const query = queryOf(judge, name, DNS_TYPE.a, sighting);
      const asked = judge.engine.judgeQuestion(query);
      report(asked.isFinal ? asked : judge.engine.judgeAnswer(query, asked, facts), query, sighting, how);
    },
  };
}

/** Most messages name nothing that a list has: they cost some look-ups, however many exceptions and devices the site has. */
function isListed({ set }: Judge, name: string, { names, addresses }: AnswerFacts, { client }: NameSighting): boolean {
  return [name, ...names.map((one) => one.name)].some((one) => set.find(one).length > 0) || [client, ...addresses].some((one) => set.findAddress(one).length > 0);
}

/** Exceptions of the site count; its policies do not: they say what is blocked, and for whom. */
function judgeOf({ set, policy }: SiteContent, allow: readonly string[]): Judge {
  const siteId = policy.site_id;
  const { allowances } = rulesOfSite(policy, siteId);
  const all = set.lists.map(({ id }) => ({ listId: id, mode: "enforce" as const, schedule: null }));
  return {
    set, siteId, clientOf: createClientFinder({ siteId, devices: policy.devices, vlans: policy.vlans }),
    engine: createVerdictEngine([set], {
      policies: [{ id: "everyone", name: "everyone", scope: EVERYONE, mode: "enforce", answer: { kind: "nxdomain" }, privateRelay: "allow", browserDns: "allow", lists: all }],
      allowances: [...allowances, ...allow.map((name) => ({ id: name, name, hasSubdomains: true, scope: EVERYONE, untilMs: null }))], pauses: [], timeZones: {}, waitsForAnswer: false,
    }),
  };
}
