import * as z from "zod";

/** What a profile does. `packets_per_second` is a bound of its own; null for the probe's own rate. */
export const ScanProfile = z.object({
  name: z.string(),
  description: z.string(),
  tcp_ports: z.int(),
  udp_ports: z.int(),
  banners: z.boolean(),
  os: z.boolean(),
  packets_per_second: z.int().nullable(),
});
export type ScanProfile = z.infer<typeof ScanProfile>;

const hostsOnly = { tcp_ports: 0, udp_ports: 0, banners: false, os: false, packets_per_second: null };

/**
 * The profiles by name. Below 15 ARP packets a second, Dynamic ARP Inspection leaves the probe's switch port open: `gentle`
 * stays under it with some room.
 */
export const SCAN_PROFILES = {
  discovery: { description: "who is there", ...hostsOnly },
  gentle: { description: "who is there, slowly enough for switches that inspect ARP", ...hostsOnly, packets_per_second: 12 },
  quick: { description: "the 100 most common TCP ports, with banners", ...hostsOnly, tcp_ports: 100, banners: true },
  standard: {
    description: "1000 TCP and 20 UDP ports, banners, operating system", ...hostsOnly, tcp_ports: 1000, udp_ports: 20, banners: true,
    os: true,
  },
  full: { description: "every TCP port, with banners", ...hostsOnly, tcp_ports: 65_535, banners: true },
  deep: {
    description: "as standard, then nmap's versions, operating system and safe scripts", ...hostsOnly,
    tcp_ports: 1000, udp_ports: 20, banners: true,
    os: true,
  },
} as const satisfies Record<string, Omit<ScanProfile, "name">>;
/** A key of `SCAN_PROFILES`. */
export type ScanProfileName = keyof typeof SCAN_PROFILES;
/** Every profile's name, in the order of `SCAN_PROFILES`; not empty, as `z.enum` needs it. */
export const SCAN_PROFILE_NAMES = Object.keys(SCAN_PROFILES) as [ScanProfileName, ...ScanProfileName[]];
