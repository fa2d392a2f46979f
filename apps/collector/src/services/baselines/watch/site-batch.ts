import type { EventData } from "@lanthorn/contract";
import { nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Appended, NewEvent } from "../../../events/log.ts";
import { compareNetwork, NETWORK_KINDS, type NetworkNow } from "../compare/network.ts";
import type { Baseline, Found } from "../compare/result.ts";
import { moveDifferences } from "../differences/transition.ts";
import { readSettings, severityOf } from "../settings.ts";
import { type BaselineRow, baselinesById } from "../store/baselines.ts";
import { type DifferenceRow, standingDifferences } from "../store/differences.ts";
import { factsOf } from "../store/facts.ts";
import { countFacts, pageOfSite } from "../store/queue.ts";
import type { RunContext } from "./compare-one.ts";
import type { BatchDependencies } from "./device-batch.ts";
import { knownFacts, learnFacts } from "./learn.ts";
import { earliest, modeOf, stateAfter } from "./next.ts";
import { takenAt, writeChanges } from "./write.ts";

/** The servers and gateways of a site: probes report them each minute or so. */
const COMPARE_EVERY_MS = 60_000;
const PAGE = 256;

/**
 * Compares a site's network with its baseline. At the end of its learning period a summary of what was learned is published.
 * @returns Where in the log; null where nothing is reported.
 */
export async function compareSite(
  deps: BatchDependencies, due: BaselineRow, network: NetworkNow, context: RunContext,
): Promise<Appended | null> {
  const { now, judgements, room } = context;
  const at = toInstant(now);
  const isOver = stateAfter(due, at).state !== due.state;
  const summary = isOver ? await summarize(deps.reads, due.site_id) : "";
  return inTurn(deps.db, due.tenant_id, async (trx) => {
    const [site] = await baselinesById(trx, [due.id]);
    if (!site) return null;
    // Its facts of devices are compared with the devices, and may be very many.
    const facts = await factsOf(trx, [site.id], NETWORK_KINDS);
    const standing = await standingDifferences(trx, [site.id], NETWORK_KINDS);
    const baseline: Baseline = { mode: modeOf(site), facts: knownFacts(facts, []), scopes: new Set() };
    const subject = { siteId: site.site_id, deviceId: null, tags: [] };
    const { severities } = readSettings(site.settings);
    const found = compareNetwork(network, baseline, { activeSince: takenAt(site), now });
    const owner = { tenantId: site.tenant_id, siteId: site.site_id, baselineId: site.id, deviceId: null };
    const moved = moveDifferences(owner, found, standing, {
      at, room: room.left(site.site_id, standing.length), window: judgements.windowOf(subject), severityOf: (one) => severityOf(one, "", severities),
      acceptanceOf: (one) => judgements.acceptanceOf(subject, one),
      isRogue: ({ kind, key }: Found) => network.facts.some((fact) => fact.kind === kind && fact.key === key && fact.isRogue),
    });
    const after = stateAfter(site, at);
    const hasLearned = after.state !== site.state;
    room.took(site.site_id, moved.added.length);
    const learned = learnFacts(owner, found, facts, { mode: baseline.mode, at });
    return writeChanges(trx, deps.log, site.tenant_id, {
      states: [{
        id: site.id, ...after, learned_at: hasLearned ? at : site.learned_at, presence: site.presence, scopes: site.scopes, updated_at: site.updated_at,
        compare_at: toInstant(earliest(now, [
          now + COMPARE_EVERY_MS, judgements.nextChange(subject), after.learning_until === null ? null : Date.parse(after.learning_until),
        ])),
      }],
      facts: [learned], differences: [moved], events: hasLearned ? [summaryEvent(site, summary, at)] : [],
    }, { at, placeOf: placeOf(network), baselineAt: () => takenAt(site) });
  });
}

const WORDS = {
  device: "device", port: "port", service: "service", host_key: "SSH host key", certificate: "TLS certificate", neighbor: "neighbor",
  dhcp_server: "DHCP server", gateway: "gateway", dns_server: "DNS server",
} as const;

/** What was learned, as `214 devices, 1,032 ports`. Counted in pages: a site may have a million facts. */
async function summarize(reads: Kysely<Schema>, siteId: string): Promise<string> {
  const counts = new Map<string, number>();
  for (let after: string | null | undefined = null; after !== undefined;) {
    const page: Awaited<ReturnType<typeof pageOfSite>> = await pageOfSite(reads, siteId, after, PAGE);
    if (page.length === 0) break;
    await nextTurn();
    for (const { kind, count } of await countFacts(reads, page.map(({ id }) => id))) counts.set(kind, (counts.get(kind) ?? 0) + count);
    after = page.length < PAGE ? undefined : page.at(-1)?.scope;
  }
  return Object.entries(WORDS).flatMap(([kind, word]) => {
    const count = counts.get(kind) ?? 0;
    return count === 0 ? [] : [`${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`];
  }).join(", ");
}

function summaryEvent(site: BaselineRow, observed: string, at: string): NewEvent {
  const data: EventData<"baseline_diff_alert"> = {
    kind: "learned", severity: "info", ip: "", mac: "", port: null, protocol: null, expected: "", observed: observed || "nothing", baseline_at: at,
    state: "seen", baseline_id: site.id,
  };
  return {
    type: "baseline_diff_alert", data, siteId: site.site_id, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at,
  };
}

function placeOf(network: NetworkNow) {
  return ({ kind, key }: DifferenceRow) => {
    const [ip = ""] = key.split(" ");
    return { ip, mac: network.facts.find((fact) => fact.kind === kind && fact.key === key)?.macs[0] ?? "" };
  };
}
