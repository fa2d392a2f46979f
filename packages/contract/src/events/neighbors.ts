import * as z from "zod";
import { Instant, IpAddress, MacAddress } from "../values.ts";

/** Discovery protocols by which switches, routers and phones announce themselves on a link. */
export const NEIGHBOR_PROTOCOLS = ["lldp", "cdp", "edp", "fdp", "sonmp"] as const;
/** One of `NEIGHBOR_PROTOCOLS`. */
export const NeighborProtocol = z.enum(NEIGHBOR_PROTOCOLS);
export type NeighborProtocol = z.infer<typeof NeighborProtocol>;

/** How a chassis or a port is named, in LLDP's terms. */
export const NeighborIdType = z.enum([
  "component", "interface-alias", "port-component", "mac", "network-address", "interface-name", "agent-circuit", "local",
]);
export type NeighborIdType = z.infer<typeof NeighborIdType>;

/** Power over Ethernet at the neighbor's port, in milliwatts; null where the neighbor does not tell. */
export const NeighborPower = z.object({
  role: z.enum(["source", "device"]),
  class: z.int().min(0).max(8).nullable(),
  requested_milliwatts: z.int().min(0).nullable(),
  allocated_milliwatts: z.int().min(0).nullable(),
});
export type NeighborPower = z.infer<typeof NeighborPower>;

const VlanId = z.int().min(0).max(4095);

/** By which of a probe's interfaces which port of which chassis is seen. */
const Place = z.object({
  protocol: NeighborProtocol,
  local_interface: z.string().max(64),
  chassis_id: z.string().max(255),
  port_id: z.string().max(255),
});

/**
 * A switch, router or phone that announced itself on the probe's own link, as LLDP names its parts. Always the whole of what is known
 * of it; said when it appears and when something of it changes, not with each advertisement. Texts are empty while unknown.
 */
export const NeighborDiscovered = Place.extend({
  port_description: z.string().max(255),
  system_name: z.string().max(255),
  system_description: z.string().max(1024),
  /** What it does now, in LLDP's words: `bridge`, `router`, `telephone`, `wlan-ap`, `station`, … */
  capabilities: z.array(z.string().max(32)).max(32),
  management_addresses: z.array(IpAddress).max(16),
  vlan_ids: z.array(VlanId).max(64),
  /** How long it is there without another word. */
  ttl_seconds: z.int().min(0).max(65_535),
  chassis_id_type: NeighborIdType.optional(),
  port_id_type: NeighborIdType.optional(),
  /** The MAC that its advertisements come from, mostly its port's own. */
  source_mac: MacAddress.optional(),
  /** Hardware: CDP's platform, LLDP-MED's model. */
  platform: z.string().max(255).optional(),
  /** Names of VLANs, as far as it tells them. */
  vlan_names: z.array(z.object({ id: VlanId, name: z.string().max(64) })).max(64).optional(),
  /** The VLAN of untagged frames. */
  native_vlan: VlanId.nullable().optional(),
  voice_vlan: VlanId.nullable().optional(),
  power: NeighborPower.nullable().optional(),
  /** Names of the fields above that have changed; empty for a neighbor that is new. */
  changed: z.array(z.string().max(32)).max(32).optional(),
});
export type NeighborDiscovered = z.infer<typeof NeighborDiscovered>;

/** Who is there, every ten minutes and after each start: whoever is not named is not there any more, whatever became of the word of it. */
export const NeighborReport = z.object({
  local_interface: z.string().max(64),
  neighbors: z.array(Place.omit({ local_interface: true }).extend({ last_seen_at: Instant })).max(256),
});

/** A neighbor is not there any more: it said so (`shutdown`), or was silent for its time to live (`expired`). */
export const NeighborLost = Place.extend({
  system_name: z.string().max(255),
  reason: z.enum(["expired", "shutdown"]),
  last_seen_at: Instant,
});
