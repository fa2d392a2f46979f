import { type ProbeCoverage, SiteCoverage } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { enrollListening, type ListeningProbe } from "../agents/testing/listening-probe.ts";
import { type Stack, startStack } from "../agents/testing/stack.ts";

const AT = "2026-11-20T08:15:30.250Z";
const is = <T>(value: T) => ({ value, since: AT });
const ACCESS_PORT: ProbeCoverage = {
  vlans: is([]), other_hosts: is("none"), gateway: is("answers"), lldp: is(false), cdp: is(false), spanning_tree: is(true), ipv6: is(true), dhcp: is("answered"),
};
const LISTENING = { enabled: true, active: false, learning_until: AT };

let stack: Stack;
let probe: ListeningProbe;
beforeEach(async () => {
  stack = await startStack();
  probe = await enrollListening(stack);
});
afterEach(async () => {
  probe.end();
  await stack.close();
});

const path = () => `/api/v1/sites/${stack.siteId}/coverage`;
const read = async () => SiteCoverage.parse((await stack.call("GET", path(), { role: "viewer" })).body).probes[0];
/** @returns What is shown when the report is there. */
const reported = async (report: Parameters<ListeningProbe["report"]>[0]) => {
  const at = new Date().toISOString();
  await probe.report({ ...report, at });
  return vi.waitFor(async () => {
    const row = await stack.database.db.selectFrom("probes").select("health").executeTakeFirstOrThrow();
    expect(JSON.parse(row.health ?? "{}")).toMatchObject({ at });
    return read();
  }, { timeout: 300_000 });
};
const states = (shown: Awaited<ReturnType<typeof read>>) => Object.fromEntries(shown?.detectors.map(({ name, state }) => [name, state]) ?? []);

test("a probe that has not reported what it sees is shown without facts", async () => {
  expect(await read()).toEqual({ probe_id: probe.probeId, name: "box", is_online: true, reported_at: null, facts: [], detectors: [] });
  expect(await reported({})).toMatchObject({ reported_at: null, facts: [], detectors: [] });
});

test("a listening probe on an access port is blind for what goes to others alone, and says what to change", async () => {
  const shown = await reported({ guards: LISTENING, coverage: ACCESS_PORT, interface: { name: "lan0", up: true, networks: ["10.0.0.0/24"] } });
  expect(states(shown)).toEqual({
    "DHCP servers": "partly", "DHCPv6 servers and router advertisements": "sees", "Gateway": "sees", "ARP and NDP spoofing": "partly", "Address scans": "sees",
    "MAC flooding": "sees", "Spanning tree": "sees", "Switch neighbors": "blind", "Name poisoning": "blind", "IPv6 tunnels": "partly", "VLAN hopping": "partly",
  });
  for (const { state, why, what_to_do: todo } of shown?.detectors ?? []) expect([why === "", todo === null]).toEqual([false, state === "sees"]);
  expect(shown?.facts[0]).toEqual({ fact: "own_networks", value: "10.0.0.0/24", since: null });
  expect(shown?.facts.slice(1).map(({ since }) => since)).toEqual(Array.from({ length: 8 }, () => AT));
});

test("a probe on a mirror port with tags, whose switch announces itself, sees everything", async () => {
  const coverage = { ...ACCESS_PORT, other_hosts: is("both_ways" as const), lldp: is(true), vlans: is([10, 20]) };
  const shown = await reported({ guards: LISTENING, coverage });
  expect(new Set(Object.values(states(shown)))).toEqual(new Set(["sees"]));
  expect(shown?.facts.find(({ fact }) => fact === "vlans")?.value).toBe("10, 20");
});

test("a probe that may send sees more, and one whose gateway is silent less", async () => {
  const shown = await reported({ guards: { ...LISTENING, active: true }, coverage: { ...ACCESS_PORT, gateway: is("silent"), spanning_tree: is(false) } });
  expect(states(shown)).toMatchObject({ "DHCP servers": "sees", "Name poisoning": "sees", "Gateway": "blind", "Spanning tree": "partly" });
});

test("a probe whose guards are off is blind", async () => {
  const shown = await reported({ guards: { ...LISTENING, enabled: false } });
  expect(new Set(Object.values(states(shown)))).toEqual(new Set(["blind"]));
});

test("a probe that is silent is shown as it was, and as silent", async () => {
  await reported({ guards: LISTENING, coverage: ACCESS_PORT });
  await stack.database.db.updateTable("probes").set({ state: "silent" }).execute();
  expect(await read()).toMatchObject({ is_online: false, facts: expect.arrayContaining([expect.objectContaining({ fact: "gateway" })]) });
});

test("another tenant's site is not there", async () => {
  expect((await stack.call("GET", path(), { tenantId: createId() })).status).toBe(404);
});
