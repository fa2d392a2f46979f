import type { Topology } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import type { NeighborNow } from "../compare/neighbors.ts";
import { plain } from "./plain.ts";

/** Reads who is connected to whom at a site, those too that are gone. */
export type ReadTopology = (tenantId: string, siteId: string) => Promise<Topology>;

/** The cables of a site's devices, from their own side. */
export interface SiteLinks {
  of(tenantId: string, siteId: string): Promise<ReadonlyMap<string, readonly NeighborNow[]>>;
  /** A neighbor of these sites came or went. */
  changed(siteIds: Iterable<string>): void;
}

/** A large site's graph takes some tens of milliseconds to draw, and is drawn again when a neighbor has come or gone. */
const KEEP_MS = 10 * 60_000;
const MAX_SITES = 256;
const MAX_END = 127;

/** Keeps what it has read for ten minutes. */
export function createSiteLinks(read: ReadTopology, clock: Pick<Clock, "monotonic">): SiteLinks {
  const kept = new Map<string, { readonly at: number; readonly links: ReadonlyMap<string, readonly NeighborNow[]> }>();
  return {
    async of(tenantId, siteId) {
      const known = kept.get(siteId);
      if (known && clock.monotonic() - known.at < KEEP_MS) return known.links;
      const links = linksOf(await read(tenantId, siteId));
      kept.delete(siteId);
      kept.set(siteId, { at: clock.monotonic(), links });
      const [oldest] = kept.keys();
      if (kept.size > MAX_SITES && oldest !== undefined) kept.delete(oldest);
      return links;
    },
    changed(siteIds) {
      for (const id of siteIds) kept.delete(id);
    },
  };
}

/**
 * What neighbor protocols say. A host's place by the forwarding tables of switches alone is none of it: laptops and virtual machines change
 * theirs all day.
 */
function linksOf({ nodes, edges }: Topology): ReadonlyMap<string, readonly NeighborNow[]> {
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  const found = new Map<string, NeighborNow[]>();
  const add = (device: string, link: NeighborNow) => found.set(device, [...(found.get(device) ?? []), link]);
  for (const { source, target, source_port: from, target_port: port, protocols, state, last_seen: seenAt } of edges) {
    if (protocols.every((protocol) => protocol === "bridge")) continue;
    const place = state === "up" ? "up" : state === "gone" ? "gone" : "unknown";
    const end = (node: string, at: string) => plain(`${names.get(node) ?? ""} ${at}`, MAX_END);
    if (port !== "") add(target, { port: plain(port, MAX_END), value: end(source, from), state: place, seenAt });
    if (from !== "") add(source, { port: plain(from, MAX_END), value: end(target, port), state: place, seenAt });
  }
  return found;
}
