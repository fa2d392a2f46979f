import type { Topology, TopologyEdge, TopologyNode } from "@lanthorn/contract";
import { depthsOf, distancesFrom, neighborsOf } from "./depths.ts";
import { groupBy } from "./group-by.ts";

/** A host at a port of a switch. */
export interface Host {
  readonly node: TopologyNode;
  readonly edge: TopologyEdge;
}

/** The hosts at one port, or at several ports together (`port` is empty then). */
export interface Fold {
  readonly port: string;
  /** How many ports these are. */
  readonly ports: number;
  readonly hosts: readonly Host[];
}

/** A probe, a switch, a router, an access point or a neighbor, with its hosts folded. */
export interface Station {
  readonly node: TopologyNode;
  /** Whether it reports its own ports. */
  readonly isSwitch: boolean;
  /** The ports with the most hosts; the others are one fold. */
  readonly folds: readonly Fold[];
}

/** A cable between two stations. `upper` is the end nearer to the core. */
export interface Cable {
  readonly edge: TopologyEdge;
  readonly upper: string;
  readonly lower: string;
  readonly upperPort: string;
  readonly lowerPort: string;
}

/** What is drawn. Its order is that of names, whatever the order of the answer. */
export interface Picture {
  readonly stations: readonly Station[];
  readonly cables: readonly Cable[];
  readonly hosts: number;
}

/** More lines make a switch of 48 ports taller than the screen. */
const MAX_FOLDS = 4;
const INFRASTRUCTURE = new Set(["bridge", "router", "wlan-ap"]);

const collator = new Intl.Collator("en", { numeric: true });

/** Orders names as people do: port 2 before port 10. */
export const byName = (one: string, other: string): number => collator.compare(one, other) || (one < other ? -1 : Number(one > other));

/**
 * Makes a picture of the links: infrastructure with its hosts folded.
 * @param hops How many cables around `focus` are shown; everything without it. A host counts as the switch that it is at.
 */
export function pictureOf({ nodes, edges }: Pick<Topology, "nodes" | "edges">, { focus, hops }: {
  readonly focus?: string | undefined; readonly hops?: number | undefined;
} = {}): Picture {
  const isStation = stationTest(edges);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const all = edges.flatMap((edge): readonly Host[] => {
    const node = byId.get(edge.target);
    return node && !isStation(node) ? [{ node, edge }] : [];
  });
  const hostsAt = groupBy(all, ({ edge }) => edge.source);
  const stations = nodes.filter(isStation).toSorted((one, other) => byName(one.name, other.name) || byName(one.id, other.id));
  const links = edges.filter(({ source, target }) => [source, target].every((id) => {
    const node = byId.get(id);
    return node !== undefined && isStation(node);
  })).toSorted((one, other) => byName(one.id, other.id));
  const depths = depthsOf(stations, links);
  const start = all.find(({ node }) => node.id === focus)?.edge.source ?? focus;
  const near = start === undefined || hops === undefined || !byId.has(start) ? null : distancesFrom([start], neighborsOf(links));
  const isShown = (id: string) => near === null || (near.get(id) ?? Number.POSITIVE_INFINITY) <= (hops ?? 0);
  const shown = stations.filter(({ id }) => isShown(id)).map((node) => ({ node, isSwitch: reportsPorts(node.id, edges), folds: fold(hostsAt.get(node.id) ?? []) }));
  return {
    stations: shown,
    cables: links.filter(({ source, target }) => isShown(source) && isShown(target)).map((edge) => cableOf(edge, depths)),
    hosts: shown.reduce((sum, { folds }) => sum + folds.reduce((count, { hosts }) => count + hosts.length, 0), 0),
  };
}

/** @returns Whether links are known by a node's own report. */
export function reportsPorts(id: string, edges: readonly TopologyEdge[]): boolean {
  return edges.some(({ kind, source }) => source === id && kind !== "probe");
}

/** Hosts at the ports of one station, by port. */
function fold(hosts: readonly Host[]): readonly Fold[] {
  const ports = [...groupBy(hosts, ({ edge }) => edge.source_port)].map(([port, at]) => ({
    port, ports: 1, hosts: at.toSorted((one, other) => byName(one.node.name, other.node.name) || byName(one.node.id, other.node.id)),
  })).toSorted((one, other) => other.hosts.length - one.hosts.length || byName(one.port, other.port));
  if (ports.length <= MAX_FOLDS) return ports;
  // A single host beside others says less than its switch: ports that have one go together.
  const full = ports.filter(({ hosts: at }) => at.length > 1).slice(0, MAX_FOLDS - 1);
  const rest = ports.slice(full.length);
  return [...full, { port: "", ports: rest.length, hosts: rest.toSorted((one, other) => byName(one.port, other.port)).flatMap(({ hosts: at }) => at) }];
}

function stationTest(edges: readonly TopologyEdge[]): (node: TopologyNode) => boolean {
  const known = new Set(edges.flatMap(({ kind, source, target }) => (kind === "access" ? [source] : [source, target])));
  return ({ id, kind, capabilities }) => kind === "probe" || known.has(id)
    || (capabilities.some((name) => INFRASTRUCTURE.has(name)) && !capabilities.includes("telephone") && !capabilities.includes("station"));
}

function cableOf(edge: TopologyEdge, depths: ReadonlyMap<string, number>): Cable {
  const { source, target, source_port: sourcePort, target_port: targetPort } = edge;
  const order = (depths.get(source) ?? 0) - (depths.get(target) ?? 0) || byName(source, target);
  return order <= 0 ? { edge, upper: source, lower: target, upperPort: sourcePort, lowerPort: targetPort }
    : { edge, upper: target, lower: source, upperPort: targetPort, lowerPort: sourcePort };
}
