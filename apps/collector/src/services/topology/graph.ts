import type { Topology, TopologyEdge, TopologyNode } from "@lanthorn/contract";
import { type Match, matchNeighbor } from "./match.ts";
import type { Candidates, DeviceRow, NeighborFact, ProbeRow } from "./store.ts";

/** What tells most of a port comes first. */
const PROTOCOL_ORDER = ["lldp", "cdp", "fdp", "edp", "sonmp"];

/** One machine, by everything that it says: each protocol for itself, on each link. */
interface Machine {
  readonly facts: NeighborFact[];
  match: Match | null;
}

/**
 * Makes one site's graph: its probes, whoever announces itself to them, and the links between them.
 * @param facts Of this site, those that are there first.
 */
export function siteGraph(facts: readonly NeighborFact[], probes: readonly ProbeRow[], candidates: Candidates): Pick<Topology, "nodes" | "edges"> {
  const nodes = new Map<string, TopologyNode>();
  const edges: TopologyEdge[] = [];
  for (const probe of probes) nodes.set(probeNodeId(probe.id), probeNode(probe));
  for (const machine of machinesOf(facts, candidates)) {
    const node = machineNode(machine, machine.match ? candidates.devices.get(machine.match.device.id) : undefined);
    nodes.set(node.id, nodes.get(node.id) ?? node);
    for (const link of linksOf(machine.facts)) edges.push(edgeOf(link, { node, match: machine.match, probe: probes.find(({ id }) => id === link[0]?.probeId) }));
  }
  return { nodes: [...nodes.values()], edges };
}

/** Facts with the same sender or the same chassis are one machine's. */
function machinesOf(facts: readonly NeighborFact[], candidates: Candidates): readonly Machine[] {
  const byToken = new Map<string, Machine>();
  const machines = new Set<Machine>();
  for (const fact of facts) {
    const tokens = tokensOf(fact);
    const found = [...new Set(tokens.flatMap((token) => byToken.get(token) ?? []))];
    const machine: Machine = found[0] ?? { facts: [], match: null };
    machines.add(machine);
    for (const other of found.slice(1)) {
      machine.facts.push(...other.facts);
      machines.delete(other);
      for (const [token, owner] of byToken) if (owner === other) byToken.set(token, machine);
    }
    machine.facts.push(fact);
    for (const token of tokens) byToken.set(token, machine);
  }
  // Two machines that are the same device are one.
  const byDevice = new Map<string, Machine>();
  for (const machine of machines) {
    machine.match = bestMatch(machine.facts, candidates);
    const same = machine.match && byDevice.get(machine.match.device.id);
    if (same) {
      same.facts.push(...machine.facts);
      machines.delete(machine);
    } else if (machine.match) byDevice.set(machine.match.device.id, machine);
  }
  return [...machines];
}

function tokensOf({ data }: NeighborFact): readonly string[] {
  const chassis = data.chassis_id_type === "mac" ? `mac ${data.chassis_id}` : `${data.protocol} ${data.chassis_id}`;
  return data.source_mac === undefined ? [chassis] : [chassis, `mac ${data.source_mac}`];
}

function bestMatch(facts: readonly NeighborFact[], { index }: Candidates): Match | null {
  const matches = facts.flatMap(({ data }) => matchNeighbor(data, index) ?? []);
  return matches.toSorted((a, b) => b.confidence - a.confidence)[0] ?? null;
}

/** Each list is one link: what a port says by its protocols, the most telling first. */
function linksOf(facts: readonly NeighborFact[]): readonly (readonly NeighborFact[])[] {
  const links = new Map<string, NeighborFact[]>();
  for (const fact of facts) {
    const { local_interface: place, source_mac: mac, port_id: port } = fact.data;
    const key = JSON.stringify([fact.probeId, place, mac ?? port]);
    links.set(key, [...(links.get(key) ?? []), fact]);
  }
  return [...links.values()].map((link) => link.toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || rank(a) - rank(b) || (a.lastSeen < b.lastSeen ? 1 : -1)));
}

const rank = ({ data }: NeighborFact) => PROTOCOL_ORDER.indexOf(data.protocol);

function edgeOf(
  link: readonly NeighborFact[], { node, match, probe }: { readonly node: TopologyNode; readonly match: Match | null; readonly probe: ProbeRow | undefined },
): TopologyEdge {
  const main = link[0] as NeighborFact;
  const there = main.isCurrent ? link.filter(({ isCurrent }) => isCurrent) : link;
  const data = there.map((fact) => fact.data);
  const state = !main.isCurrent ? "gone" : probe?.state === "online" ? "up" : "unknown";
  const heard = state === "up" ? (probe?.last_heard_at ?? "") : "";
  const first = <T>(pick: (one: NeighborFact["data"]) => T | null | undefined): T | null => data.map(pick).find((value) => value !== null && value !== undefined) ?? null;
  const source = probeNodeId(main.probeId);
  return {
    id: `${source} ${main.data.local_interface} ${node.id} ${main.data.port_id}`,
    source, target: node.id, source_port: main.data.local_interface, target_port: main.data.port_id,
    target_port_names: data.map(({ protocol, port_id, port_description }) => ({ protocol, port_id, port_description })),
    protocols: [...new Set(data.map(({ protocol }) => protocol))],
    state, native_vlan: first((one) => one.native_vlan), voice_vlan: first((one) => one.voice_vlan),
    vlan_ids: [...new Set(data.flatMap(({ vlan_ids }) => vlan_ids))].toSorted((a, b) => a - b), power: first((one) => one.power),
    matched_by: match?.by ?? null, confidence: match?.confidence ?? null,
    first_seen: there.map(({ firstSeen }) => firstSeen).toSorted()[0] ?? main.firstSeen,
    last_seen: [heard, ...there.map(({ lastSeen }) => lastSeen)].toSorted().at(-1) ?? main.lastSeen,
  };
}

function probeNodeId(id: string): string {
  return `probe:${id}`;
}

function probeNode(probe: ProbeRow): TopologyNode {
  return {
    id: probeNodeId(probe.id), kind: "probe", site_id: probe.site_id, name: probe.name, device_id: null, probe_id: probe.id, ip: "", mac: "",
    device_type: "unknown", presence_state: probe.state === "online" ? "online" : "unknown", platform: "", capabilities: [],
  };
}

function machineNode({ facts, match }: Machine, device: DeviceRow | undefined): TopologyNode {
  const [main] = facts.toSorted((a, b) => rank(a) - rank(b)) as [NeighborFact, ...NeighborFact[]];
  const text = (pick: (data: NeighborFact["data"]) => string | undefined) => facts.map(({ data }) => pick(data)).find((value) => value !== undefined && value !== "") ?? "";
  const chassisMac = text((data) => (data.chassis_id_type === "mac" ? data.chassis_id : ""));
  const isKnown = match !== null && device !== undefined;
  return {
    id: isKnown ? device.id : `neighbor:${main.siteId}:${main.data.protocol}:${main.data.chassis_id}`,
    kind: isKnown ? "device" : "neighbor",
    site_id: main.siteId,
    name: (isKnown ? device.hostname : "") || text((data) => data.system_name) || main.data.chassis_id,
    device_id: isKnown ? device.id : null,
    probe_id: null,
    ip: (isKnown ? device.ip : "") || text((data) => data.management_addresses[0]),
    mac: (isKnown ? device.mac : "") || chassisMac,
    device_type: isKnown ? (device.device_type as TopologyNode["device_type"]) : "unknown",
    presence_state: isKnown ? (device.presence_state as TopologyNode["presence_state"]) : "unknown",
    platform: text((data) => data.platform),
    capabilities: [...new Set(facts.flatMap(({ data }) => data.capabilities))],
  };
}
