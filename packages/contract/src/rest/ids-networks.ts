import * as z from "zod";
import { Id, IpNetwork } from "../values.ts";

/** Networks that somebody names for a site. */
export const MAX_IDS_HOME_NETWORKS = 128;

const Named = z.array(IpNetwork).min(1).max(MAX_IDS_HOME_NETWORKS).nullable();

/** Which networks rules take for a site's own: `$HOME_NET`. */
export const IdsSiteNetworks = z.object({
  site_id: Id.describe("The site."),
  home_networks: Named.describe("What somebody has named. Null where nobody did."),
  source: z.enum(["named", "plan", "probes"])
    .describe("Where `networks` are from. `named`: `home_networks`. `plan`: private addresses and the prefixes of the address plan that are in use. `probes`: each probe's own configuration, else private addresses."),
  networks: z.array(z.string()).describe("The networks that the site's probes get. Empty where the probes know them themselves."),
});
export type IdsSiteNetworks = z.infer<typeof IdsSiteNetworks>;

/** Null: nobody says anything any more. */
export const IdsSiteNetworksUpdate = z.strictObject({ home_networks: Named.describe("The site's own networks and no others. Null: by the address plan, or as the probes know it.") });
export type IdsSiteNetworksUpdate = z.infer<typeof IdsSiteNetworksUpdate>;
