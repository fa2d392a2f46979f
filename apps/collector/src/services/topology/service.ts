import { createHash } from "node:crypto";
import type { DeviceNeighbor, Topology, TopologyEdge, TopologyNode, TopologyNote, TopologyQuery } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import { requireSite } from "../../gateway/errors.ts";
import { siteGraph } from "./graph.ts";
import type { TopologyStore } from "./store.ts";
import { factsOfSwitch } from "./switch-facts.ts";

/** Who is linked to whom, computed from what probes and switches report. A result can be two seconds old. */
export interface TopologyService {
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  read(tenantId: string, query: TopologyQuery): Promise<{ readonly topology: Topology; readonly etag: string }>;
  /** The links of a device, from its own side. */
  neighborsOf(tenantId: string, device: { readonly id: string; readonly site_id: string }): Promise<DeviceNeighbor[]>;
}

/** Some megabytes of JSON; a tenant with more looks at one site at a time. */
const MAX_NEIGHBORS = 5000;
/** With up to a thousand hosts each. */
const MAX_SWITCHES = 64;
/** A graph is drawn once for everybody who asks in that time. */
const KEEP_MS = 2000;
const MAX_KEPT = 64;

const ACCESS_PORT_ONLY = "The site's probes are connected to access ports: they see the switch at their own cable, but no links between switches.";
const NO_NEIGHBORS = "The site's probes hear no announcements: the switch is unmanaged, or does not send LLDP or CDP on "
  + "their ports.";

/** Keeps up to 64 results in memory. A graph has at most 5000 neighbors and 64 switches; beyond that it is `truncated`. */
export function createTopologyService(deps: { readonly store: TopologyStore; readonly clock: Pick<Clock, "monotonic"> }): TopologyService {
  const { store, clock } = deps;
  const kept = new Map<string, { readonly at: number; readonly drawn: ReturnType<TopologyService["read"]> }>();

  async function draw(tenantId: string, { site_id: siteId, include_gone: includeGone }: TopologyQuery) {
    const found = await store.neighbors(tenantId, { siteId, includeGone }, MAX_NEIGHBORS + 1);
    const facts = found.slice(0, MAX_NEIGHBORS);
    const switches = await store.switches(tenantId, { siteId, includeGone }, MAX_SWITCHES + 1);
    const probes = await store.probes(tenantId, siteId);
    const nodes: TopologyNode[] = [];
    const edges: TopologyEdge[] = [];
    const notes: TopologyNote[] = [];
    for (const site of new Set([
      ...probes.map(({ site_id }) => site_id), ...facts.map((fact) => fact.siteId), ...switches.map((fact) => fact.siteId),
    ])) {
      const ofSite = facts.filter((fact) => fact.siteId === site);
      const asked = switches.slice(0, MAX_SWITCHES).filter((fact) => fact.siteId === site);
      const allFacts = [...ofSite, ...asked.flatMap(factsOfSwitch)];
      const macs = asked.flatMap(({ report }) => report.hosts.map(({ mac }) => mac));
      const candidates = await store.candidates(tenantId, site, allFacts.map(({ data }) => data), macs);
      const graph = siteGraph({ heard: ofSite, switches: asked, probes: probes.filter(({ site_id }) => site_id === site), candidates });
      nodes.push(...graph.nodes);
      edges.push(...graph.edges);
      const isSeen = graph.edges.some(({ state }) => state !== "gone");
      // Where a switch tells of its ports, there is nothing to excuse.
      if (asked.some(({ isCurrent }) => isCurrent)) continue;
      if (isSeen) notes.push({ site_id: site, code: "access-port-only", message: ACCESS_PORT_ONLY });
      else notes.push({ site_id: site, code: "no-neighbors", message: NO_NEIGHBORS });
    }
    const topology: Topology = { nodes, edges, notes, truncated: found.length > MAX_NEIGHBORS || switches.length > MAX_SWITCHES };
    const etag = `"${createHash("sha256").update(JSON.stringify(topology)).digest("base64url").slice(0, 27)}"`;
    return { topology, etag };
  }

  const service: TopologyService = {
    async read(tenantId, query) {
      await requireSite(store, tenantId, query.site_id);
      const key = JSON.stringify([tenantId, query.site_id, query.include_gone]);
      const known = kept.get(key);
      if (known && clock.monotonic() - known.at < KEEP_MS) return known.drawn;
      const drawn = draw(tenantId, query);
      kept.delete(key);
      kept.set(key, { at: clock.monotonic(), drawn });
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      drawn.catch(() => kept.delete(key));
      return drawn;
    },
    async neighborsOf(tenantId, { id, site_id: siteId }) {
      const { topology: { nodes, edges } } = await service.read(tenantId, { site_id: siteId, include_gone: false });
      return edges.filter(({ target, matched_by }) => target === id && matched_by !== null).map((edge) => ({
        protocol: edge.protocols[0] ?? "", system_name: nodes.find(({ id: node }) => node === edge.source)?.name ?? "",
        port_id: edge.source_port, last_seen: edge.last_seen, local_port: edge.target_port,
        probe_id: nodes.find(({ id: node }) => node === edge.source)?.probe_id ?? null,
        state: edge.state, matched_by: edge.matched_by ?? "system-name", confidence: edge.confidence ?? 0,
      }));
    },
  };
  return service;
}
