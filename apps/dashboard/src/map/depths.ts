import type { TopologyEdge, TopologyNode } from "@lanthorn/contract";
import { groupBy } from "./group-by.ts";

/** Stations that are about as near to all others as the nearest one are the core with it. */
const CORE_NEARNESS = 1.1;
/** The way from each station to each other is counted up to here: 300,000 steps, a few frames; above it, cables are counted. */
const MAX_COUNTED = 500;

/** How far each station is from the core of its part of the network: the routers, or else the switches, that are nearest to all others. */
export function depthsOf(stations: readonly TopologyNode[], links: readonly TopologyEdge[]): ReadonlyMap<string, number> {
  const neighbors = neighborsOf(links);
  const depths = new Map<string, number>();
  for (const { id } of stations) {
    if (depths.has(id)) continue;
    const reached = distancesFrom([id], neighbors);
    for (const [each, depth] of distancesFrom(coreOf(stations.filter((station) => reached.has(station.id)), neighbors), neighbors)) depths.set(each, depth);
  }
  return depths;
}

/** @param part Stations that are joined, in the order of their names. */
function coreOf(part: readonly TopologyNode[], neighbors: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const switches = part.filter(({ kind }) => kind !== "probe");
  const routers = switches.filter(({ capabilities }) => capabilities.includes("router"));
  const candidates = [routers, switches, part].find((all) => all.length > 0) ?? [];
  const far = candidates.map(({ id }) => ({ id, sum: part.length > MAX_COUNTED ? -(neighbors.get(id)?.length ?? 0) : sumOf(distancesFrom([id], neighbors)) }))
    .toSorted((one, other) => one.sum - other.sum);
  const [nearest] = far;
  if (!nearest) return [];
  const core = far.filter(({ sum }) => (part.length > MAX_COUNTED ? sum === nearest.sum : sum <= nearest.sum * CORE_NEARNESS));
  // A ring has no middle: it hangs on the first.
  return core.length > 1 && core.length <= Math.sqrt(part.length) ? core.map(({ id }) => id) : [nearest.id];
}

function sumOf(distances: ReadonlyMap<string, number>): number {
  return [...distances.values()].reduce((sum, distance) => sum + distance, 0);
}

/** @returns The other ends of each station's cables. */
export function neighborsOf(links: readonly TopologyEdge[]): ReadonlyMap<string, readonly string[]> {
  const pairs = links.flatMap(({ source, target }) => [[source, target], [target, source]] as const);
  return new Map([...groupBy(pairs, ([from]) => from)].map(([from, all]) => [from, all.map(([, to]) => to)]));
}

/** @returns How many cables there are from the nearest of these stations to each that can be reached. */
export function distancesFrom(starts: readonly string[], neighbors: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, number> {
  const distances = new Map(starts.map((id) => [id, 0]));
  // Entries that are added while it runs are visited as well.
  for (const [id, distance] of distances) {
    for (const next of neighbors.get(id) ?? []) if (!distances.has(next)) distances.set(next, distance + 1);
  }
  return distances;
}
