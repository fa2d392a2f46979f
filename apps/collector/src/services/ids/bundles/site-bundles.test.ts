import { BundleManifest, IDS_BUNDLE_RULES, IdsRuleset, IdsSiteNetworks, IdsSuppressionRecord, IdsSupport, readIdsBundle, SignedBundle } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseNetwork } from "../../../db/keys/address-range.ts";
import { enrollListening, type ListeningProbe } from "../../agents/testing/listening-probe.ts";
import { type Stack, startStack } from "../../agents/testing/stack.ts";
import { ruleText } from "../testing/rules.ts";

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

const call = (method: string, path: string, body?: object) => stack.call(method, `/api/v1/ids${path}`, { body });
const addRules = async (rules: string) => IdsRuleset.parse((await call("POST", "/rulesets", { name: "ours", rules })).body);
const hears = (version: number) => probe.hears(({ bundles }) => bundles?.some((one) => one.name === "ids" && one.version === version) === true);
/** Makes bundles of what has changed, and waits until the probe hears of the newest. */
const settle = async () => {
  await stack.ids.bundling.run();
  const version = (await stack.bundles.listFor(stack.siteId)).find(({ name }) => name === "ids")?.version ?? 0;
  await hears(version);
  return version;
};
/** The parts of the probe's bundle, as it gets them. */
const fetchBundle = async () => {
  const { identity } = probe;
  const signed = SignedBundle.parse((await stack.call("GET", "/api/v1/agents/bundles/ids", { identity })).body);
  const manifest = BundleManifest.parse(JSON.parse(signed.manifest));
  const files = new Map<string, Uint8Array>();
  for (const { path, sha256 } of manifest.parts) files.set(path, await stack.bundles.piece(`ids/${stack.siteId}`, sha256, 0) ?? new Uint8Array());
  const read = readIdsBundle(files);
  if (!read.ok) throw new Error(read.message);
  const text = read.bundle.rules.map((bytes) => Buffer.from(bytes).toString()).join("");
  return { manifest, ...read.bundle, text };
};

test("probes get the rules of their site, signed, with each change in a version that rises", async () => {
  const versions: number[] = [];
  const { id } = await addRules(`${ruleText(1)}\n${ruleText(2)}`);
  versions.push(await settle());
  const first = await fetchBundle();
  expect([first.manifest.name, first.manifest.version, first.index.rules, first.suppressions]).toEqual(["ids", versions[0], 2, []]);
  expect(first.manifest.parts.some(({ path }) => path.startsWith(IDS_BUNDLE_RULES))).toBe(true);
  await call("POST", "/overrides", { kind: "signature", value: "2", state: "disabled", reason: "known" });
  versions.push(await settle());
  expect((await fetchBundle()).text).toBe(`${ruleText(1)}\n`);
  await call("PUT", `/rulesets/${id}`, { rules: ruleText(3) });
  versions.push(await settle());
  expect((await fetchBundle()).text).toBe(`${ruleText(3)}\n`);
  await call("POST", `/rulesets/${id}/rollback`);
  versions.push(await settle());
  expect((await fetchBundle()).text).toBe(`${ruleText(1)}\n`);
  await call("DELETE", `/rulesets/${id}`);
  versions.push(await settle());
  expect((await fetchBundle()).index.rules).toBe(0);
  expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
  expect(await stack.ids.bundling.run()).toBe(0);
});

test("suppressions go along, with the addresses that their device has", async () => {
  await addRules(ruleText(1));
  const made = IdsSuppressionRecord.parse((await call("POST", "/suppressions", { signature_id: 1, source: "10.0.0.9/8", reason: "the scanner" })).body);
  await settle();
  expect((await fetchBundle()).suppressions).toEqual([{
    id: made.id, signature_id: 1, generator_id: 1, category: null, source: "10.0.0.0/8", destination: null, network: null, device: null, expires_at: null,
  }]);
  await call("DELETE", `/suppressions/${made.id}`);
  await settle();
  expect((await fetchBundle()).suppressions).toEqual([]);
});

test("HOME_NET is what somebody named, else the address plan with private addresses, else the probes' own", async () => {
  await addRules(ruleText(1));
  const networks = async () => IdsSiteNetworks.parse((await call("GET", `/networks/${stack.siteId}`)).body);
  const homeNet = async () => (await settle(), (await fetchBundle()).index.addresses["HOME_NET"]);
  expect([await homeNet(), await networks()]).toEqual([undefined, { site_id: stack.siteId, home_networks: null, source: "probes", networks: [] }]);
  const other = createId();
  await stack.database.db.insertInto("sites").values({ id: other, tenant_id: stack.tenantId, name: "other", created_at: "2026-01-01T00:00:00.000Z", probe_configuration: "{}" }).execute();
  const plan = async (prefix: string, siteId: string | null, status = "active") => {
    const range = parseNetwork(prefix);
    await stack.database.db.insertInto("ipam_prefixes").values({
      id: createId(), tenant_id: stack.tenantId, site_id: siteId, scope: siteId ?? "", prefix, first_key: range?.first ?? "", last_key: range?.last ?? "", sort_key: range?.first ?? "", length: Number(prefix.split("/")[1]),
      family: 4, vlan_id: null, name: "", description: "", status, created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z",
    }).execute();
  };
  await plan("10.20.0.0/16", stack.siteId);
  expect(await homeNet()).toBe(undefined);
  for (const [prefix, siteId, status] of [["198.51.100.0/24", stack.siteId], ["198.51.100.128/25", stack.siteId], ["203.0.113.0/28", null], ["192.0.2.0/24", other], ["192.0.2.0/25", stack.siteId, "deprecated"]] as const) await plan(prefix, siteId, status);
  expect(await homeNet()).toBe("[192.168.0.0/16,10.0.0.0/8,172.16.0.0/12,fc00::/7,fe80::/10,198.51.100.0/24,203.0.113.0/28]");
  expect(await networks()).toMatchObject({ source: "plan", home_networks: null });
  expect((await call("PUT", `/networks/${stack.siteId}`, { home_networks: ["10.1.2.3/8", "2001:DB8::1"] })).body).toMatchObject({ source: "named", networks: ["10.0.0.0/8", "2001:db8::1"] });
  expect(await homeNet()).toBe("[10.0.0.0/8,2001:db8::1]");
  const { manifest } = await fetchBundle();
  expect(await stack.ids.bundling.run()).toBe(0);
  for (const body of [{ home_networks: [] }, { home_networks: ["any"] }, { home_networks: ["::ffff:10.0.0.0/90"] }, { home_networks: Array.from({ length: 129 }, (_, index) => `10.0.${index}.0/24`) }, {}, { home_networks: ["!10.0.0.0/8"] }]) {
    expect([body, (await call("PUT", `/networks/${stack.siteId}`, body)).status]).toEqual([body, 400]);
  }
  expect((await call("PUT", `/networks/${stack.siteId}`, { home_networks: Array.from({ length: 128 }, (_, index) => `2001:db8:1111:2222:3333:4444:${index.toString(16)}::/112`) })).status).toBe(400);
  expect((await call("PUT", `/networks/${createId()}`, { home_networks: null })).status).toBe(404);
  await call("PUT", `/networks/${stack.siteId}`, { home_networks: null });
  expect([await homeNet(), (await fetchBundle()).manifest.version > manifest.version]).toEqual(["[192.168.0.0/16,10.0.0.0/8,172.16.0.0/12,fc00::/7,fe80::/10,198.51.100.0/24,203.0.113.0/28]", true]);
});

test("the bundle of a site is no other site's, nor an operator's to see among those of the deployment", async () => {
  await addRules(ruleText(1));
  await settle();
  const other = createId();
  await stack.database.db.insertInto("sites").values({ id: other, tenant_id: stack.tenantId, name: "other", created_at: "2026-01-01T00:00:00.000Z", probe_configuration: "{}" }).execute();
  expect((await stack.bundles.listFor(other))).toEqual([]);
  await stack.database.db.updateTable("probes").set({ site_id: other }).execute();
  expect((await stack.call("GET", "/api/v1/agents/bundles/ids", { identity: probe.identity })).status).toBe(404);
  expect((await stack.call("GET", `/api/v1/agents/bundles/ids%2F${stack.siteId}`, { identity: probe.identity })).status).not.toBe(200);
  expect((await stack.call("GET", "/api/v1/agents/bundles")).body).toMatchObject({ data: [] });
});

test("what a probe reports is shown, and a report that is none changes nothing", async () => {
  await addRules(`${ruleText(1)}\nalert tcp any any -> any any (lua:a; sid:2;)`);
  await settle();
  const support = async () => IdsSupport.parse((await call("GET", "/support")).body);
  const state = {
    state: "running" as const, error: null, version: 1, loaded_at: null, load_seconds: null, rules: { loaded: 1, refused: 0 }, refusals: [], since: "2026-01-01T00:00:00.000Z",
    frames: { inspected: 1, shed: 0 }, alerts: 0, suppressed: [{ suppression_id: createId(), count: 3 }], costs: [],
  };
  await probe.report({ ids: state, bundles: [{ name: "ids", version: 1, error: "it does not fit" }] });
  await expect.poll(async () => (await support()).probes).toMatchObject([{ probe_id: probe.probeId, offered_version: expect.any(Number) as number, bundle_error: "it does not fit", ids: state }]);
  expect((await support()).sites).toMatchObject([{ site_id: stack.siteId, rules: 1, refused: 1, faults: [], error: null }]);
  await stack.database.db.updateTable("probes").set({ health: '{"ids":{"state":"running","suppressed":"all"}}' }).execute();
  expect((await support()).probes).toMatchObject([{ ids: null }]);
  expect((await call("GET", "/suppressions")).status).toBe(200);
});
