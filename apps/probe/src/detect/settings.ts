import { isIP } from "node:net";
import * as z from "zod";
import { GUARD_KINDS } from "@lanthorn/contract/uplink";
import { Prefix } from "../egress/settings.ts";

const Ip = z.string().refine((text) => isIP(text) !== 0, "an IPv4 or IPv6 address");
const Mac = z.string().regex(/^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/, "six lower-case hexadecimal pairs with colons");

/** What is right though a guard would report it. A part that is left out matches everything. */
export const GuardException = z.strictObject({
  kind: z.enum(GUARD_KINDS).optional(),
  ip: Prefix.optional(),
  mac: Mac.optional(),
  /** ISO 8601 in UTC. */
  until: z.iso.datetime().optional(),
  reason: z.string().max(255).default(""),
}).refine(({ kind, ip, mac }) => kind !== undefined || ip !== undefined || mac !== undefined, "needs at least one of kind, ip and mac");
export type GuardException = z.infer<typeof GuardException>;

/** The guards of the link: `[guards]`. */
export const GuardSettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Whether the first hint is checked by a probe to the hosts that it is about, and DHCP servers are looked for. Else they only listen. */
  active: z.boolean().default(true),
  /** For so long after the first start, what is seen and does not contradict itself is learned as normal. */
  learning_minutes: z.number().min(0).max(43_200).default(60),
  /** An incident is over when nothing of it was seen for so long. */
  quiet_seconds: z.number().min(1).max(86_400).default(300),
  /** DHCP servers that are known beside those that were learned: their server identifiers. */
  dhcp_servers: z.array(Ip).max(256).default([]),
  /** Routers that may send router advertisements, and gateways, beside those that were learned. */
  routers: z.array(Ip).max(256).default([]),
  exceptions: z.array(GuardException).max(1024).default([]),
}).prefault({});
export type GuardSettings = z.infer<typeof GuardSettings>;
