import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFrameBlock } from "@lanthorn/packet-io";
import { encodeEthernet, encodeIpv4, encodeUdp, ETHER_TYPE, IP_PROTOCOL } from "@lanthorn/packets";
import { silentLog, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { INTRUSION_RULES } from "../../bundles/names.ts";
import { openBundleStore } from "../../bundles/store.ts";
import { checkRules } from "../../intrusions/check-rules.ts";
import type { Finding } from "../../intrusions/finding.ts";
import { createFlowSinks, type FlowSinks } from "../process/flow-sinks.ts";
import { NO_BEHAVIOUR } from "../anomalies/behaviour.ts";
import { createRuleEngine, type RuleEngine } from "./rule-engine.ts";
import { createFlowNumbers } from "../ring/flow-numbers.ts";

const MAC = Uint8Array.of(2, 0, 0, 0, 0, 1);
const ENDS = { source: Uint8Array.of(10, 0, 0, 7), destination: Uint8Array.of(198, 51, 100, 1) };
let dataDir: string;
let found: Finding[];
let engine: RuleEngine;
let flows: FlowSinks;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-rules-"));
  found = [];
  engine = createRuleEngine({
    dataDir, homeNetworks: ["10.0.0.0/8"], frame: () => flows.frame(), send: (finding) => found.push(finding) > 0, clock: systemClock, log: silentLog,
  });
  flows = createFlowSinks({ numbers: createFlowNumbers(), behaviour: NO_BEHAVIOUR, random: Math.random, clock: systemClock, watch: engine, onMessage: () => undefined });
});
afterEach(async () => {
  await engine.close();
  rmSync(dataDir, { recursive: true });
});

function files(rules: string, change: Readonly<Record<string, unknown>> = {}): Map<string, Buffer> {
  const index = { v: 1, site_id: "01939f6e-2a10-7c3e-8f00-000000000022", built_at: "2026-11-20T08:00:00.000Z", rules: 1, addresses: {}, ports: {} };
  return new Map(Object.entries({ "ids.json": index, "suppressions.json": [], "rules/a.rules": rules, ...change })
    .map(([path, value]) => [path, Buffer.from(typeof value === "string" ? value : JSON.stringify(value))]));
}
const install = (rules: string, version: number, change: Readonly<Record<string, unknown>> = {}) => openBundleStore(dataDir, INTRUSION_RULES).install(files(rules, change), version);

function frame(text: string, sourcePort = 4000): Uint8Array {
  const payload = encodeUdp({ sourcePort, destinationPort: 9, payload: Buffer.from(text) }, ENDS);
  return encodeEthernet({ source: MAC, destination: MAC, etherType: ETHER_TYPE.ipv4, payload: encodeIpv4({ ...ENDS, protocol: IP_PROTOCOL.udp, payload }) });
}
const see = (...frames: readonly Uint8Array[]) => flows.sinks[0].onBlock(encodeFrameBlock(frames.map((bytes) => ({ bytes, seconds: 1_700_000_000, nanoseconds: 0 }))), 0);
const running = (version: number) => expect.poll(() => engine.state()).toMatchObject({ state: "running", version });

const RULE = 'alert udp $HOME_NET any -> any any (msg:"Evil"; content:"evil"; classtype:bad-unknown; metadata:signature_severity Major, mitre_technique_id T1071; target:src_ip; sid:7; rev:2;)\n';

test("rules of the bundle are run, and what they find names the frame", async () => {
  install(`${RULE}alert udp any any -> any any (lua:x.lua; sid:8;)\n`, 3, { "classification.config": "config classification: bad-unknown,Potentially Bad Traffic,2\n" });
  expect([engine.watch(), engine.state().state]).toEqual([null, "off"]);
  engine.load();
  await running(3);
  expect(engine.state()).toMatchObject({
    error: null, rules: { loaded: 1, refused: 1 }, refusals: [{ signature_id: 8, keyword: "lua", reason: expect.any(String) as string }],
  });
  see(frame("good"), frame("evil"), frame("good"));
  expect(found).toMatchObject([{
    engine: "lanthorn", at: 1_700_000_000_000, protocol: "udp", direction: "to-server", target: "source", source: { ip: "10.0.0.7", port: 4000 },
    rule: { gid: 1, id: 7, revision: 2, message: "Evil", category: "Potentially Bad Traffic", className: "bad-unknown", severity: "high", techniques: ["T1071"] },
    matched: [{ buffer: "payload", offset: 0, length: 4, bytes: Buffer.from("evil") }],
  }]);
  expect(Buffer.from(found[0]?.packet ?? []).equals(frame("evil"))).toBe(true);
  expect(engine.state()).toMatchObject({ frames: { inspected: 3, shed: 0 }, alerts: 1 });
});

test("while inspection is left out nothing is matched, and that is counted", async () => {
  install(RULE, 1);
  engine.load();
  await running(1);
  flows.sinks[1].shed(5, 300, 0);
  see(frame("evil"));
  expect([found.length, engine.state().frames]).toEqual([0, { inspected: 0, shed: 5 }]);
});

test("other rules take over when they are ready, and those that cannot be read do not", async () => {
  install(RULE, 1);
  engine.load();
  await running(1);
  install(RULE.replace('"evil"', '"other"').replace("sid:7", "sid:9"), 2);
  engine.load();
  see(frame("evil"));
  await running(2);
  see(frame("evil", 5000), frame("other", 5001));
  expect(found.map(({ rule }) => rule.id)).toEqual([7, 9]);
  const store = openBundleStore(dataDir, INTRUSION_RULES);
  install(RULE, 3, { "suppressions.json": "{" });
  engine.load();
  await expect.poll(() => engine.state().error).toContain("suppressions.json");
  see(frame("other", 5002));
  expect([found.at(-1)?.rule.id, engine.state().state, engine.state().version]).toEqual([9, "running", 2]);
  expect(store.versions().previous).not.toBeNull();
});

test("damaged files are not used: the version before is", async () => {
  install(RULE, 1);
  install(RULE.replace("sid:7", "sid:9"), 2);
  const { current } = openBundleStore(dataDir, INTRUSION_RULES).versions();
  writeFileSync(join(dataDir, INTRUSION_RULES, current ?? "", "rules", "a.rules"), "nonsense");
  engine.load();
  await expect.poll(() => engine.state().state).toBe("running");
  see(frame("evil"));
  expect([found[0]?.rule.id, readdirSync(join(dataDir, INTRUSION_RULES)).length]).toEqual([7, 3]);
});

test("a bundle is tried before it is installed", async () => {
  await expect(checkRules(files(RULE))).resolves.toBeUndefined();
  for (const wrong of [files("nonsense\nmore nonsense\n"), files(RULE, { "ids.json": "{" })]) expect(() => checkRules(wrong)).toThrow(expect.objectContaining({ code: "bundle-refused" }));
});
