import { z } from "zod";
import { IpAddress } from "../values.ts";

/** A switch, router or phone that announced itself on the probe's own link, as LLDP names its parts. */
export const NeighborDiscovered = z.object({
  protocol: z.enum(["lldp", "cdp", "edp", "fdp", "sonmp"]),
  local_interface: z.string().max(64),
  chassis_id: z.string().max(255),
  port_id: z.string().max(255),
  port_description: z.string().max(255),
  system_name: z.string().max(255),
  system_description: z.string().max(1024),
  capabilities: z.array(z.string().max(32)).max(32),
  management_addresses: z.array(IpAddress).max(16),
  vlan_ids: z.array(z.int().min(0).max(4095)).max(64),
  ttl_seconds: z.int().min(0).max(65_535),
});
