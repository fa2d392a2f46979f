import * as z from "zod";
import { NEIGHBOR_PROTOCOLS, NeighborPower, NeighborProtocol } from "../events/neighbors.ts";
import { DeviceType, Id, Instant, PresenceState } from "../values.ts";
import { BooleanQuery } from "./envelopes.ts";

/** How a neighbour was found to be a device, the surest first; `interface-mac`: its MAC is in a switch's forwarding table. */
export const NEIGHBOR_MATCHES = ["chassis-mac", "source-mac", "chassis-id", "management-address", "system-name", "interface-mac"] as const;
const NeighborMatch = z.enum(NEIGHBOR_MATCHES);
export type NeighborMatch = z.infer<typeof NeighborMatch>;

/** `up` while its probe is there and has not lost it, `unknown` while the probe is silent, `gone` after that. */
const LinkState = z.enum(["up", "unknown", "gone"]);

/** `probe`: a probe of the site; `device`: a device of the inventory; `neighbor`: who announces itself and is no device that is known. */
const TopologyNode = z.object({
  id: z.string(),
  kind: z.enum(["probe", "device", "neighbor"]),
  site_id: Id,
  name: z.string(),
  device_id: Id.nullable(),
  probe_id: Id.nullable(),
  ip: z.string(),
  mac: z.string(),
  device_type: DeviceType,
  presence_state: PresenceState,
  platform: z.string(),
  capabilities: z.array(z.string()),
});
export type TopologyNode = z.infer<typeof TopologyNode>;

/** A port by the name that each protocol gives it. */
const PortName = z.object({ protocol: NeighborProtocol, port_id: z.string(), port_description: z.string() });

const TopologyEdge = z.object({
  id: z.string(),
  /**
   * `probe`: heard by a probe at its own cable. As a switch tells of its ports, with SNMP credentials: `uplink` where another
   * switch, router or access point or many MACs are, `access` where a host hangs.
   */
  kind: z.enum(["probe", "uplink", "access"]),
  /** Node ids. */
  source: z.string(),
  target: z.string(),
  source_port: z.string(),
  target_port: z.string(),
  /** Every name of the target's port, where protocols differ. */
  target_port_names: z.array(PortName),
  /** `bridge`: by the switch's forwarding table. */
  protocols: z.array(z.enum([...NEIGHBOR_PROTOCOLS, "bridge"])),
  state: LinkState,
  native_vlan: z.int().nullable(),
  voice_vlan: z.int().nullable(),
  vlan_ids: z.array(z.int()),
  power: NeighborPower.nullable(),
  matched_by: NeighborMatch.nullable(),
  /** 0 to 1: that the target is the device that it is said to be; null without one. */
  confidence: z.number().min(0).max(1).nullable(),
  first_seen: Instant,
  last_seen: Instant,
});
export type TopologyEdge = z.infer<typeof TopologyEdge>;

/** What cannot be seen, and why. */
const TopologyNote = z.object({
  site_id: Id,
  code: z.enum(["access-port-only", "no-neighbors"]),
  message: z.string(),
});
export type TopologyNote = z.infer<typeof TopologyNote>;

export const Topology = z.object({
  nodes: z.array(TopologyNode),
  edges: z.array(TopologyEdge),
  notes: z.array(TopologyNote),
  /** There is more than is shown: ask for one site. */
  truncated: z.boolean(),
});
export type Topology = z.infer<typeof Topology>;

export const TopologyQuery = z.object({
  site_id: Id.optional(),
  /** Also neighbours that are not there any more. */
  include_gone: BooleanQuery.default(false),
});
export type TopologyQuery = z.infer<typeof TopologyQuery>;

/** A link of a device, from its own side. */
export const DeviceNeighbor = z.object({
  protocol: z.string(),
  /** The other side: its name and its port. */
  system_name: z.string(),
  port_id: z.string(),
  last_seen: Instant,
  /** The device's own port. */
  local_port: z.string(),
  probe_id: Id.nullable(),
  state: LinkState,
  matched_by: NeighborMatch,
  confidence: z.number().min(0).max(1),
});
export type DeviceNeighbor = z.infer<typeof DeviceNeighbor>;
