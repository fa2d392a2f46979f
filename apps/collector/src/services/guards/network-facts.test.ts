import { MAX_NETWORK_FACTS, type NetworkFact } from "@lanthorn/contract";
import { afterEach, beforeEach, expect, test } from "vitest";
import { enrollListening, type ListeningProbe } from "../agents/testing/listening-probe.ts";
import { type Stack, startStack } from "../agents/testing/stack.ts";
import { createSiteNetworks, type SiteNetworks } from "./network-facts.ts";
import { createGuardsStore } from "./store.ts";

const AT = "2026-11-20T08:15:30.250Z";
const SERVER: NetworkFact = { what: "dhcp_server", name: "192.168.1.1", macs: ["00:aa:bb:cc:dd:01"], vlan_id: 20, seen_at: AT, known: true };
const LOOK = { what: "dhcp_server", since: AT, looked_at: AT };

let stack: Stack;
let probe: ListeningProbe;
let networks: SiteNetworks;
beforeEach(async () => {
  stack = await startStack();
  probe = await enrollListening(stack);
  networks = createSiteNetworks(createGuardsStore(stack.database));
});
afterEach(async () => {
  probe.end();
  await stack.close();
});

const health = async () => JSON.parse((await stack.database.db.selectFrom("probes").select("health").executeTakeFirstOrThrow()).health ?? "{}") as { at?: string };
/** @returns When the report was made, once it is there. */
const reported = async (report: Parameters<ListeningProbe["report"]>[0]): Promise<string> => {
  const at = new Date().toISOString();
  await probe.report({ ...report, at });
  await expect.poll(async () => (await health()).at).toBe(at);
  return at;
};

test("a site's network is what its probes reported last; of a probe that does not report it nothing is known", async () => {
  expect([await networks.networkFactsOf(stack.siteId), await networks.networkLooksOf(stack.siteId)]).toEqual([[], []]);
  await reported({});
  expect([await networks.networkFactsOf(stack.siteId), await networks.networkLooksOf(stack.siteId)]).toEqual([[], []]);
  const at = await reported({ network_facts: [SERVER], network_looks: [LOOK] });
  const { what, name, macs, known } = SERVER;
  expect(await networks.networkFactsOf(stack.siteId)).toEqual([{ probeId: probe.probeId, what, name, macs, known, vlanId: 20, seenAt: AT, reportedAt: at }]);
  expect(await networks.networkLooksOf(stack.siteId)).toEqual([{ probeId: probe.probeId, what, since: AT, lookedAt: AT, reportedAt: at }]);
  await reported({ network_facts: [], network_looks: [] });
  expect(await networks.networkFactsOf(stack.siteId)).toEqual([]);
});

test("of a probe that reports too many or too long ones nothing is taken, and as many as there may be are", async () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => ({ ...SERVER, name: `10.0.${index >> 8}.${index & 255}` }));
  const wrong = [many(MAX_NETWORK_FACTS + 1), [{ ...SERVER, name: "x".repeat(261) }], [{ ...SERVER, macs: Array.from({ length: 9 }, () => SERVER.macs[0] ?? "") }]];
  for (const network_facts of wrong) await probe.report({ network_facts, at: new Date().toISOString() });
  // Reports come in order.
  await reported({ network_facts: many(MAX_NETWORK_FACTS) });
  expect(await networks.networkFactsOf(stack.siteId)).toHaveLength(MAX_NETWORK_FACTS);
  const samples = await stack.database.db.selectFrom("probe_health").select("health").execute();
  expect(samples.every(({ health: text }) => !text.includes("network_facts"))).toBe(true);
});
