import * as z from "zod";
import { Instant, MacAddress } from "../values.ts";

/** What probes report of a network beside its hosts. A collector passes over kinds that it does not know. */
export const NETWORK_FACT_KINDS = ["dhcp_server", "pxe_server", "dhcpv6_server", "router", "gateway", "dns_server"] as const;
/** One of `NETWORK_FACT_KINDS`. */
export type NetworkFactKind = (typeof NETWORK_FACT_KINDS)[number];

/** A probe reports no more of them. */
export const MAX_NETWORK_FACTS = 256;
/** MAC addresses of one fact. */
export const MAX_FACT_MACS = 8;

const what = z.string().min(1).max(32).describe("What it is: `dhcp_server`, `pxe_server`, `dhcpv6_server`, `router`, `gateway` or `dns_server`.");

/** A server or router that a probe has heard on its link. */
export const NetworkFact = z.object({
  what,
  name: z.string().min(1).max(260)
    .describe("Its address; of a DHCPv6 server its DUID in hexadecimal. Of a DHCP server without an address its MAC address."),
  macs: z.array(MacAddress).max(MAX_FACT_MACS).describe("MAC addresses that it was heard from in the last hour before `seen_at`. Empty where only its address is known."),
  vlan_id: z.int().min(1).max(4094).nullable().describe("The VLAN in whose tags it was heard. Null without a tag."),
  seen_at: Instant.describe("When it was heard last, or handed out by a server, by the probe's clock."),
  known: z.boolean().describe("Whether the probe's guards take it, with these MAC addresses, for normal."),
});
export type NetworkFact = z.infer<typeof NetworkFact>;

/** How long a probe has listened for facts of one kind. */
export const NetworkLook = z.object({
  what,
  since: Instant.describe("Since when the probe has listened without a break, by its clock."),
  looked_at: Instant.describe("When it last listened, by its clock."),
});
export type NetworkLook = z.infer<typeof NetworkLook>;
