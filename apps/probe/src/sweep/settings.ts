import { parsePrefix } from "@lanthorn/packets";
import * as z from "zod";
import { isPrefix } from "../egress/settings.ts";

/** Half of a /24 in a second; gentle to the cheapest access point. */
const DEFAULT_PACKETS_PER_SECOND = 200;
/** Cisco's Dynamic ARP Inspection shuts an untrusted port above 15 ARP packets a second. */
const GENTLE_PACKETS_PER_SECOND = 12;
/** A round of so many takes two hours at the usual rate. */
const MAX_ROUTED_ADDRESSES = 65_536;

const RoutedNetwork = z.string().refine((text) => isPrefix(text), "a prefix, as 10.9.0.0/24 or 2001:db8:9::/120");

/** Sweeps by schedule, of own subnets and of networks behind routers: `[sweep]`. */
export const SweepSettings = z.strictObject({
  enabled: z.boolean().default(true),
  interval_seconds: z.int().min(60).max(604_800).default(600),
  packets_per_second: z.int().min(1).max(10_000).default(DEFAULT_PACKETS_PER_SECOND),
  /** At most 12 packets a second, whatever packets_per_second says. */
  gentle: z.boolean().default(false),
  /** Networks behind routers whose hosts are watched too, at this interval and rate. */
  routed: z.array(RoutedNetwork).max(256).refine(
    (list) => addressesIn(list) <= MAX_ROUTED_ADDRESSES, "together at most 65,536 addresses, the size of a /16",
  ).default([]),
}).prefault({});
export type SweepSettings = z.infer<typeof SweepSettings>;

/** The rate that everything which discovery sends shares. */
export function packetsPerSecond({ gentle, packets_per_second }: Pick<SweepSettings, "gentle" | "packets_per_second">): number {
  return gentle ? Math.min(packets_per_second, GENTLE_PACKETS_PER_SECOND) : packets_per_second;
}

/** How many addresses some prefixes have together; one that cannot be read has none. */
function addressesIn(prefixes: readonly string[]): number {
  return prefixes.reduce((sum, text) => {
    const prefix = parsePrefix(text);
    return sum + (prefix ? 2 ** (prefix.bytes.length * 8 - prefix.length) : 0);
  }, 0);
}
