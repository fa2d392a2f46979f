import * as z from "zod";
import { NEIGHBOR_PROTOCOLS, NeighborPower, NeighborProtocol } from "../events/neighbors.ts";
import { DeviceType, Id, Instant, PresenceState } from "../values.ts";
import { BooleanQuery } from "./envelopes.ts";

/** How a neighbor was matched to a device, the surest first; `interface-mac`: its MAC is in a switch's forwarding table. */
export const NEIGHBOR_MATCHES = ["chassis-mac", "source-mac", "chassis-id", "management-address", "system-name", "interface-mac"] as const;
const NeighborMatch = z.enum(NEIGHBOR_MATCHES);
/** One of `NEIGHBOR_MATCHES`. */
export type NeighborMatch = z.infer<typeof NeighborMatch>;

/** `up` while its probe is there and has not lost it, `unknown` while the probe is silent, `gone` after that. */
const LinkState = z.enum(["up", "unknown", "gone"]);

/** `probe`: a probe of the site; `device`: a device of the inventory; `neighbor`: one that announces itself and is no known device. */
const TopologyNode = z.object({
  id: z.string().describe("The node's id in this answer."),
  kind: z.enum(["probe", "device", "neighbor"])
    .describe("`probe`: a probe. `device`: a device of the inventory. `neighbor`: one that announces itself and is no known device."),
  site_id: Id.describe("The site where it is."),
  name: z.string().describe("What it is called. Empty while unknown."),
  device_id: Id.nullable().describe("The device. Null where it is none."),
  probe_id: Id.nullable().describe("The probe. Null where it is none."),
  ip: z.string().describe("Its address. Empty while unknown."),
  mac: z.string().describe("Its MAC address. Empty while unknown."),
  device_type: DeviceType.describe("What kind of device it is."),
  presence_state: PresenceState.describe("Whether it is on the network."),
  platform: z.string().describe("Its hardware, as it announces it. Empty while unknown."),
  capabilities: z.array(z.string()).describe("What it does, in LLDP's words: `bridge`, `router`, `telephone`, `wlan-ap`, `station`."),
});
/** An end of a link. Edges name it by its `id`, which is of this answer only. */
export type TopologyNode = z.infer<typeof TopologyNode>;

/** A port by the name that each protocol gives it. */
const PortName = z.object({
  protocol: NeighborProtocol.describe("The protocol that announces this name."),
  port_id: z.string().describe("The port's id."),
  port_description: z.string().describe("The port's description. Empty for none."),
});

const TopologyEdge = z.object({
  id: z.string().describe("The edge's id in this answer."),
  kind: z.enum(["probe", "uplink", "access"]).describe(
    "`probe`: heard by a probe at its own cable. By a switch's own report over SNMP: `uplink` to another switch, router or access point, "
      + "`access` to a host.",
  ),
  source: z.string().describe("Id of the node at the near end."),
  target: z.string().describe("Id of the node at the far end."),
  source_port: z.string().describe("The near end's port. Empty while unknown."),
  target_port: z.string().describe("The far end's port. Empty while unknown."),
  target_port_names: z.array(PortName).describe("Every name of the far end's port, where protocols differ."),
  protocols: z.array(z.enum([...NEIGHBOR_PROTOCOLS, "bridge"])).describe("What shows the link. `bridge`: a switch's forwarding table."),
  state: LinkState.describe("`up`, `unknown` while the probe is silent, or `gone`."),
  native_vlan: z.int().nullable().describe("The VLAN of untagged frames. Null where the far end does not say."),
  voice_vlan: z.int().nullable().describe("The VLAN for phones. Null where the far end does not say."),
  vlan_ids: z.array(z.int()).describe("VLANs that the far end announces."),
  power: NeighborPower.nullable().describe("Power over Ethernet at the far end. Null where it does not say."),
  matched_by: NeighborMatch.nullable().describe("How the far end was matched to a known device. Null where it is none."),
  confidence: z.number().min(0).max(1).nullable().describe("How sure that is, 0 to 1. Null where it is none."),
  first_seen: Instant.describe("When the link was seen first."),
  last_seen: Instant.describe("When the link was seen last."),
});
/** A link of two nodes. `source` is the probe or switch that reports it. */
export type TopologyEdge = z.infer<typeof TopologyEdge>;

/** What cannot be seen, and why. */
const TopologyNote = z.object({
  site_id: Id.describe("The site where something cannot be seen."),
  code: z.enum(["access-port-only", "no-neighbors"]).describe("What cannot be seen, for programs."),
  message: z.string().describe("What cannot be seen, and why."),
});
/** What the probes of a site cannot see of its links, and why. */
export type TopologyNote = z.infer<typeof TopologyNote>;

/** The links of one site or of all, as probes and switches report them. */
export const Topology = z.object({
  nodes: z.array(TopologyNode).describe("Probes, devices and neighbors that have a link."),
  edges: z.array(TopologyEdge).describe("The links between them."),
  notes: z.array(TopologyNote).describe("What cannot be seen, and why."),
  truncated: z.boolean().describe("Whether the answer is cut off. If so, request one site."),
});
export type Topology = z.infer<typeof Topology>;

/** Links that are gone are left out unless `include_gone`. */
export const TopologyQuery = z.object({
  site_id: Id.optional().describe("Links of this site. All sites when left out."),
  include_gone: BooleanQuery.default(false).describe("Also show links that are gone."),
});
export type TopologyQuery = z.infer<typeof TopologyQuery>;

/** A link of a device, from its own side. */
export const DeviceNeighbor = z.object({
  protocol: z.string().describe("What shows the link, as `lldp`, or `bridge` for a switch's forwarding table."),
  system_name: z.string().describe("Name of the other side. Empty while unknown."),
  port_id: z.string().describe("Port of the other side. Empty while unknown."),
  last_seen: Instant.describe("When the link was seen last."),
  local_port: z.string().describe("This device's own port. Empty while unknown."),
  probe_id: Id.nullable().describe("The probe at the other side. Null where it is none."),
  state: LinkState.describe("`up`, `unknown` while the probe is silent, or `gone`."),
  matched_by: NeighborMatch.describe("How the far end was matched to a known device."),
  confidence: z.number().min(0).max(1).describe("How sure that is, 0 to 1."),
});
export type DeviceNeighbor = z.infer<typeof DeviceNeighbor>;
