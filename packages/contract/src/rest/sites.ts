import * as z from "zod";
import { ProbeConfiguration } from "../uplink/messages.ts";
import { Id, Instant, IpNetwork } from "../values.ts";

const Sweep = ProbeConfiguration.shape.sweep;

/** A place that probes watch, and what its probes are told. */
export const Site = z.object({
  id: Id,
  name: z.string(),
  created_at: Instant,
  /** How often a probe looks for hosts by itself, and how fast; its own file may say slower. */
  sweep: Sweep,
  /** Addresses and networks that no probe of the site ever sends anything to. */
  excluded: z.array(z.string()),
  /** Networks that may be scanned beyond the probes' own subnets. */
  scan_networks: z.array(z.string()),
  /** Rises with every change that the site's probes are told of. */
  configuration_revision: z.int().min(0),
});
export type Site = z.infer<typeof Site>;

const settings = {
  /** What is left out stays as it is. */
  sweep: z.strictObject(Sweep.shape).partial().optional(),
  excluded: z.array(IpNetwork).max(4096).optional(),
  scan_networks: z.array(IpNetwork).max(256).optional(),
};
const name = z.string().trim().min(1).max(255);

export const SiteCreate = z.strictObject({ name, ...settings });
export type SiteCreate = z.infer<typeof SiteCreate>;

/** Fields left out stay. */
export const SiteUpdate = z.strictObject({ name: name.optional(), ...settings });
export type SiteUpdate = z.infer<typeof SiteUpdate>;
