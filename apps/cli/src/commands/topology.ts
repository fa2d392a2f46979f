import type { Topology } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { findSiteId } from "../site-id.ts";

/** `site` is a name or an id, all sites without it; `gone` also shows links that are no longer there. */
export interface TopologyOptions {
  readonly site?: string;
  readonly gone?: boolean;
}

/** Which port of which switch each probe hangs on, and what else its switches tell of their ports, one line for each cable. */
export async function showTopology(connection: Connection, { site, gone = false }: TopologyOptions): Promise<Answer> {
  const id = site === undefined ? undefined : await findSiteId(connection.rest, site);
  const topology = await connection.rest.readTopology({ site_id: id, include_gone: gone });
  const names = new Map(topology.nodes.map(({ id, name }) => [id, name]));
  const kinds = new Map(topology.nodes.map((node) => [node.id, node]));
  return {
    json: topology,
    table: {
      heading: ["STATE", "KIND", "FROM", "PORT", "NEIGHBOR", "ITS PORT", "TYPE", "ADDRESS", "VLANS", "POWER", "BY", "LAST SEEN"],
      rows: topology.edges.map((edge) => [
        edge.state, edge.kind, names.get(edge.source) ?? "-", edge.source_port, names.get(edge.target) ?? "-", edge.target_port,
        typeOf(kinds.get(edge.target)), kinds.get(edge.target)?.ip || "-", vlansOf(edge), powerOf(edge), edge.protocols.join(","),
        edge.last_seen,
      ]),
    },
    notes: [
      ...new Set(topology.notes.map(({ message }) => message)), ...(topology.truncated ? ["The list is cut off: choose a site with --site."] : []),
    ],
  };
}

type Edge = Topology["edges"][number];

/** What it does, where it is no device that is known. */
function typeOf(node: Topology["nodes"][number] | undefined): string {
  if (!node) return "-";
  return node.device_type !== "unknown" ? node.device_type : node.capabilities.join(",") || "-";
}

/** The untagged one with a `u`, that of phones with a `v`. */
function vlansOf({ vlan_ids: ids, native_vlan: native, voice_vlan: voice }: Edge): string {
  const all = [...new Set([...ids, ...(voice === null ? [] : [voice])])].toSorted((a, b) => a - b);
  const shown = all.slice(0, 8).map((id) => `${id}${id === native ? "u" : ""}${id === voice ? "v" : ""}`);
  return [...shown, ...(all.length > 8 ? ["…"] : [])].join(",") || "-";
}

function powerOf({ power }: Edge): string {
  const milliwatts = power?.allocated_milliwatts ?? power?.requested_milliwatts ?? null;
  if (!power) return "-";
  return milliwatts === null ? power.role : `${power.role} ${(milliwatts / 1000).toFixed(1)} W`;
}
