import type { Topology, TopologyEdge, TopologyNode } from "@lanthorn/contract";
import { readHostPorts, type SwitchPort } from "./host-ports.ts";
import { CONFIDENCE, type Match, matchNeighbor } from "./match.ts";
import type { Candidates, DeviceRow, NeighborFact, ProbeRow, SwitchFact } from "./store.ts";
import { factsOfSwitch, switchKey } from "./switch-facts.ts";

/** What tells most of a port comes first. */
const PROTOCOL_ORDER = ["lldp", "cdp", "fdp", "edp", "sonmp"];

/** One machine, by everything that it says: each protocol for itself, on each link. */
interface Machine {
  readonly facts: NeighborFact[];
  match: Match | null;
}

/** One site, as it is known. */
export interface SiteFacts {
  /** Heard by its probes, those that are there first. */
  readonly heard: readonly NeighborFact[];
  readonly switches: readonly SwitchFact[];
  readonly probes: readonly ProbeRow[];
  readonly candidates: Candidates;
}

/**
 * Makes one site's graph: its probes, whoever announces itself to them or to a switch, what hangs on switches' ports, and the
 * links between.
 */
export function siteGraph({ heard, switches, probes, candidates }: SiteFacts): Pick<Topology, "nodes" | "edges"> {
  const nodes = new Map<string, TopologyNode>();
  for (const probe of probes) nodes.set(probeNodeId(probe.id), probeNode(probe));
  const machines = machinesOf([...heard, ...switches.flatMap(factsOfSwitch)], candidates).map((machine) => ({
    ...machine, node: machineNode(machine, machine.match ? candidates.devices.get(machine.match.device.id) : undefined),
  }));
  const ofSwitch = new Map<string, TopologyNode>();
  for (const { node, facts } of machines) {
    nodes.set(node.id, nodes.get(node.id) ?? node);
    for (const { origin } of facts) if (origin?.kind === "self") ofSwitch.set(origin.key, node);
  }
  const probeOf = (probeId: string) => probes.find(({ id }) => id === probeId);
  const edges = machines.flatMap(({ facts, node, match }) =>
    linksOf(facts).map((link) => edgeOf(link, { node, match, probe: probeOf(link[0]?.probeId ?? ""), ofSwitch })));
  const links = withoutMirrored(edges);
  const switchEdges = bridgeEdges(readHostPorts(switches), { nodes, candidates, probeOf, ofSwitch, links });
  return { nodes: [...nodes.values()], edges: [...links, ...switchEdges] };
}

/** Of two switches that both tell of the cable between them, the first. */
function withoutMirrored(edges: readonly TopologyEdge[]): readonly TopologyEdge[] {
  const known = new Set<string>();
  return edges.filter(({ source, source_port, target, target_port }) => {
    if (source === target) return false;
    known.add(JSON.stringify([source, source_port, target, target_port]));
    return !known.has(JSON.stringify([target, target_port, source, source_port]));
  });
}

/**
 * By the forwarding tables alone: cables to other switches, and devices whose MAC is on a port, unless neighbor protocols have reported that cable
 * themselves.
 */
function bridgeEdges(
  { hosts, links: switchLinks }: ReturnType<typeof readHostPorts>, { nodes, candidates, probeOf, ofSwitch, links }: {
    readonly nodes: Map<string, TopologyNode>; readonly candidates: Candidates; readonly probeOf: (probeId: string) => ProbeRow | undefined;
    readonly ofSwitch: ReadonlyMap<string, TopologyNode>; readonly links: readonly TopologyEdge[];
  },
): readonly TopologyEdge[] {
  const nodeOf = (fact: SwitchFact) => ofSwitch.get(switchKey(fact));
  const reported = new Set(links.map((link) => JSON.stringify([link.source, link.source_port, link.target])));
  const joined = new Set(links.flatMap(({ source, target }) => [`${source} ${target}`, `${target} ${source}`]));
  const edge = (
    kind: "uplink" | "access", { fact, port, vlan }: SwitchPort, source: TopologyNode, target: string, targetPort: string,
  ): TopologyEdge => ({
    id: `${source.id} ${port} ${target} ${targetPort}`, kind, source: source.id, target, source_port: port, target_port: targetPort,
    target_port_names: [],
    protocols: ["bridge"], state: stateOfLink(fact.isCurrent, probeOf(fact.probeId)), native_vlan: vlan, voice_vlan: null,
    vlan_ids: vlan === null ? [] : [vlan],
    power: null, matched_by: "interface-mac", confidence: CONFIDENCE["interface-mac"], first_seen: fact.firstSeen, last_seen: fact.lastSeen,
  });
  const uplinks = switchLinks.flatMap(({ from, to, toPort }): readonly TopologyEdge[] => {
    const [source, target] = [nodeOf(from.fact), nodeOf(to)];
    if (!source || !target || source === target || joined.has(`${source.id} ${target.id}`)) return [];
    return [edge("uplink", from, source, target.id, toPort)];
  });
  const access = [...hosts].flatMap(([mac, at]): readonly TopologyEdge[] => {
    const source = nodeOf(at.fact);
    const candidate = candidates.index.byMac.get(mac);
    const device = candidate && candidates.devices.get(candidate.id);
    const key = JSON.stringify([source?.id, at.port, device?.id]);
    if (!source || !device || device.id === source.id || reported.has(key)) return [];
    reported.add(key);
    if (!nodes.has(device.id)) nodes.set(device.id, deviceNode(device, at.fact.siteId));
    return [edge("access", at, source, device.id, "")];
  });
  return [...uplinks, ...access];
}

function stateOfLink(isCurrent: boolean, probe: ProbeRow | undefined): TopologyEdge["state"] {
  return !isCurrent ? "gone" : probe?.state === "online" ? "up" : "unknown";
}

function deviceNode(device: DeviceRow, siteId: string): TopologyNode {
  return {
    id: device.id, kind: "device", site_id: siteId, name: device.hostname || device.ip || device.mac, device_id: device.id, probe_id: null,
    ip: device.ip, mac: device.mac, device_type: device.device_type as TopologyNode["device_type"],
    presence_state: device.presence_state as TopologyNode["presence_state"], platform: "", capabilities: [],
  };
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

function tokensOf({ data, origin }: NeighborFact): readonly string[] {
  const chassis = data.chassis_id_type === "mac" ? `mac ${data.chassis_id}` : `${data.protocol} ${data.chassis_id}`;
  return [
    chassis, ...(data.source_mac === undefined ? [] : [`mac ${data.source_mac}`]),
    ...(origin?.kind === "self" ? [`switch ${origin.key}`] : []),
  ];
}

function bestMatch(facts: readonly NeighborFact[], { index }: Candidates): Match | null {
  const matches = facts.flatMap(({ data }) => matchNeighbor(data, index) ?? []);
  return matches.toSorted((a, b) => b.confidence - a.confidence)[0] ?? null;
}

/** Each list is one link: what a port says by its protocols, the most reliable first. */
function linksOf(facts: readonly NeighborFact[]): readonly (readonly NeighborFact[])[] {
  const links = new Map<string, NeighborFact[]>();
  for (const fact of facts.filter(({ origin }) => origin?.kind !== "self")) {
    const { local_interface: place, source_mac: mac, port_id: port } = fact.data;
    const key = JSON.stringify([fact.origin?.key ?? fact.probeId, place, mac ?? port]);
    links.set(key, [...(links.get(key) ?? []), fact]);
  }
  return [...links.values()].map(
    (link) => link.toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || rank(a) - rank(b) || (a.lastSeen < b.lastSeen ? 1 : -1)),
  );
}

const rank = ({ data }: NeighborFact) => PROTOCOL_ORDER.indexOf(data.protocol);

function edgeOf(
  link: readonly NeighborFact[], { node, match, probe, ofSwitch }: {
    readonly node: TopologyNode; readonly match: Match | null; readonly probe: ProbeRow | undefined;
    readonly ofSwitch: ReadonlyMap<string, TopologyNode>;
  },
): TopologyEdge {
  const main = link[0] as NeighborFact;
  const there = main.isCurrent ? link.filter(({ isCurrent }) => isCurrent) : link;
  const data = there.map((fact) => fact.data);
  const state = stateOfLink(main.isCurrent, probe);
  const heard = state === "up" ? (probe?.last_heard_at ?? "") : "";
  const first = <T>(pick: (one: NeighborFact["data"]) => T | null | undefined): T | null =>
    data.map(pick).find((value) => value !== null && value !== undefined) ?? null;
  const source = (main.origin && ofSwitch.get(main.origin.key)?.id) ?? probeNodeId(main.probeId);
  const role = main.origin?.kind === "switch" ? main.origin.role : null;
  return {
    id: `${source} ${main.data.local_interface} ${node.id} ${main.data.port_id}`,
    kind: role === null ? "probe" : role === "uplink" ? "uplink" : "access",
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
    id: probeNodeId(probe.id), kind: "probe", site_id: probe.site_id, name: probe.name, device_id: null, probe_id: probe.id, ip: "",
    mac: "", device_type: "unknown", presence_state: probe.state === "online" ? "online" : "unknown", platform: "", capabilities: [],
  };
}

function machineNode({ facts, match }: Machine, device: DeviceRow | undefined): TopologyNode {
  const [main] = facts.toSorted((a, b) => rank(a) - rank(b)) as [NeighborFact, ...NeighborFact[]];
  const text = (pick: (data: NeighborFact["data"]) => string | undefined) =>
    facts.map(({ data }) => pick(data)).find((value) => value !== undefined && value !== "") ?? "";
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
