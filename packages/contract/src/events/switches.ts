import * as z from "zod";
import { IpAddress, MacAddress } from "../values.ts";
import { NeighborDiscovered } from "./neighbors.ts";

const Name = z.string().max(255);

/**
 * What a port is for: `uplink` where a switch, router or access point announces itself or many MACs are, `access` where a few
 * are, `unused` where none is.
 */
export const PortRole = z.enum(["access", "uplink", "unused"]);
export type PortRole = z.infer<typeof PortRole>;

/** Who announces itself to one of the switch's ports, as the switch tells. */
export const SwitchNeighbor = NeighborDiscovered.omit({
  local_interface: true, ttl_seconds: true, source_mac: true, changed: true,
}).extend({
  /** Of the switch. */
  port: Name,
});
export type SwitchNeighbor = z.infer<typeof SwitchNeighbor>;

/**
 * What a switch or router answered to SNMP with a credential of the vault: always the whole of what is known of it; said when it changes,
 * and once an hour; of one that does not answer, once. Texts are empty while unknown.
 */
export const SwitchReport = z.object({
  /** Where it was asked. */
  ip: IpAddress,
  /** Whether it answers; where it does not, the rest is empty. */
  answers: z.boolean(),
  /** Why it cannot be read, for people; empty or left out where it answers, or is not asked any more. Older probes do not tell. */
  problem: z.string().max(1024).optional(),
  system_name: Name,
  system_description: z.string().max(1024),
  object_id: Name,
  /** In hexadecimal; SNMPv3 only. */
  engine_id: z.string().max(64),
  /** Its own, the bridge's or chassis' first. */
  macs: z.array(MacAddress).max(64),
  ports: z.array(z.object({
    name: Name, alias: Name, mac: z.union([MacAddress, z.literal("")]), up: z.boolean(), speed_mbps: z.int().min(0), role: PortRole,
    /** How many MACs are behind it. */
    mac_count: z.int().min(0),
  })).max(512),
  neighbors: z.array(SwitchNeighbor).max(256),
  /** Hosts on access ports, by the bridge's forwarding table. */
  hosts: z.array(z.object({ mac: MacAddress, port: Name, vlan: z.int().min(0).max(4095).nullable() })).max(1024),
  /** Who it has lately spoken to, by its ARP and neighbor discovery tables: nobody is online by this alone. */
  addresses: z.array(z.object({ ip: IpAddress, mac: MacAddress })).max(1024),
});
export type SwitchReport = z.infer<typeof SwitchReport>;
