import type { TopologyEdge, TopologyNode } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { sketchOf } from "./placing/layout.ts";
import { pictureOf } from "./picture.ts";
import { foldText } from "./station-texts.ts";

const AT = "2026-11-27T12:00:00.000Z";
const node = (name: string, values: Partial<TopologyNode> = {}): TopologyNode => ({
  id: name, kind: "device", site_id: "s", name, device_id: name, probe_id: null, ip: "", mac: "", device_type: "unknown", presence_state: "online",
  platform: "", capabilities: [], ...values,
});
const edge = (kind: TopologyEdge["kind"], source: string, sourcePort: string, target: string, targetPort = ""): TopologyEdge => ({
  id: `${source} ${sourcePort} ${target}`, kind, source, target, source_port: sourcePort, target_port: targetPort, target_port_names: [], protocols: ["lldp"],
  state: "up", native_vlan: null, voice_vlan: null, vlan_ids: [], power: null, matched_by: null, confidence: null, first_seen: AT, last_seen: AT,
});
const hosts = (of: string, port: string, count: number) => Array.from({ length: count }, (_, index) => `${of}-${port}-${index}`);
const access = (of: string, port: string, count: number) => hosts(of, port, count).map((name) => edge("access", of, port, name));

const nodes = [
  node("probe", { kind: "probe" }), node("access-2", { capabilities: ["bridge"] }), node("access-1", { capabilities: ["bridge"] }),
  node("core", { capabilities: ["bridge", "router"] }), node("desk-phone", { capabilities: ["bridge", "telephone"] }),
  ...hosts("access-1", "Gi1/0/3", 14).map((name) => node(name)), ...["1", "2", "4", "5", "10"].flatMap((port) => hosts("access-2", port, 1)).map((name) => node(name)),
];
const edges = [
  edge("probe", "probe", "eth0", "access-1", "Gi1/0/1"), edge("uplink", "access-1", "Gi1/0/48", "core", "Te1/1"), edge("uplink", "core", "Te1/2", "access-2", "Gi1/0/48"),
  ...access("access-1", "Gi1/0/3", 14), ...["1", "2", "4", "5", "10"].flatMap((port) => access("access-2", port, 1)), edge("access", "access-2", "3", "desk-phone"),
];

test("hosts are folded into the ports of their switch, and ports of one host go together where there are many", () => {
  const { stations, hosts: total } = pictureOf({ nodes, edges });
  expect(stations.map(({ node: { name }, folds }) => [name, ...folds.map(foldText)])).toEqual([
    ["access-1", "Gi1/0/3 · 14 hosts"], ["access-2", "6 ports · 6 hosts"], ["core"], ["probe"],
  ]);
  expect(stations[1]?.folds[0]?.hosts.map(({ edge: { source_port: port } }) => port)).toEqual(["1", "2", "3", "4", "5", "10"]);
  expect(total).toBe(20);
});

test("the core is above what hangs on it, whoever reports the cable, and each end keeps its port", () => {
  expect(pictureOf({ nodes, edges }).cables.map(({ upper, upperPort, lower, lowerPort }) => `${upper} ${upperPort} > ${lower} ${lowerPort}`)).toEqual([
    "core Te1/1 > access-1 Gi1/0/48", "core Te1/2 > access-2 Gi1/0/48", "access-1 Gi1/0/1 > probe eth0",
  ]);
});

test("only so many cables around what is chosen are shown; a host counts as its switch", () => {
  const names = (focus: string, hops: number) => pictureOf({ nodes, edges }, { focus, hops }).stations.map(({ node: { name } }) => name);
  expect(names("core", 1)).toEqual(["access-1", "access-2", "core"]);
  expect(names("desk-phone", 1)).toEqual(["access-2", "core"]);
  expect(names("nobody", 1)).toHaveLength(4);
});

test("the same links in another order, and older ones, are the same sketch", () => {
  const later = edges.map((each) => ({ ...each, last_seen: "2026-11-27T13:00:00.000Z" })).toReversed();
  expect(sketchOf(pictureOf({ nodes: nodes.toReversed(), edges: later }))).toEqual(sketchOf(pictureOf({ nodes, edges })));
});

test("the core is what is nearest to all, not what has the most cables; two cores are beside each other", () => {
  const names = (of: string, count: number) => Array.from({ length: count }, (_, index) => `${of}-${index}`);
  const floors = names("a-floor", 4);
  const all = ["core", ...floors, ...floors.flatMap((floor) => names(floor, 9))].map((name) => node(name));
  const tree = [...floors.map((floor) => edge("uplink", floor, "up", "core")), ...floors.flatMap((floor) => names(floor, 9).map((name) => edge("uplink", name, "up", floor)))];
  expect(new Set(pictureOf({ nodes: all, edges: tree }).cables.filter(({ lower }) => floors.includes(lower)).map(({ upper }) => upper))).toEqual(new Set(["core"]));
  const both = floors.flatMap((floor) => ["core-1", "core-2"].map((core) => edge("uplink", floor, core, core)));
  const pair = { nodes: ["core-1", "core-2", ...floors].map((name) => node(name)), edges: both };
  expect(new Set(pictureOf(pair).cables.map(({ upper }) => upper))).toEqual(new Set(["core-1", "core-2"]));
});
