import * as z from "zod";
import { GUARD_KINDS } from "../events/security.ts";
import { Instant, IpAddress, IpNetwork, MacAddress } from "../values.ts";

/** Exceptions of a site that have not expired. The configuration of its probes fits a message with them. */
export const MAX_GUARD_EXCEPTIONS = 1000;
/** The longest reason of an exception, in characters. */
export const MAX_GUARD_REASON = 255;

const GuardExceptionFields = {
  kind: z.enum(GUARD_KINDS).optional(),
  ip: IpNetwork.optional(),
  mac: MacAddress.optional(),
  /** ISO 8601 in UTC. */
  until: z.iso.datetime().optional(),
  reason: z.string().max(MAX_GUARD_REASON).default(""),
};

/** Whether an exception says what it is about: one that does not would match everything. */
export function isGuardExceptionNarrow({ kind, ip, mac }: { readonly kind?: unknown; readonly ip?: unknown; readonly mac?: unknown }): boolean {
  return kind !== undefined || ip !== undefined || mac !== undefined;
}

const NARROW = "needs at least one of kind, ip and mac";

/** What is right though a guard would report it, as a person writes it down. A part that is left out matches everything. */
export const GuardException = z.strictObject(GuardExceptionFields).refine(isGuardExceptionNarrow, NARROW);
export type GuardException = z.infer<typeof GuardException>;

/** Settings of the guards, without defaults. */
export const GUARD_SETTINGS = {
  enabled: z.boolean(),
  /** Whether the first hint is checked by a probe to the hosts that it is about, and DHCP servers are looked for. Else they only listen. */
  active: z.boolean(),
  /** For so long after the first start, what is seen and does not contradict itself is learned as normal. */
  learning_minutes: z.number().min(0).max(43_200),
  /** An incident is over when nothing of it was seen for so long. */
  quiet_seconds: z.number().min(1).max(86_400),
  /** DHCP servers that are known beside those that were learned: their server identifiers. */
  dhcp_servers: z.array(IpAddress).max(256),
  /** Routers that may send router advertisements, and gateways, beside those that were learned. */
  routers: z.array(IpAddress).max(256),
  /** Whether the gateway's MAC changes where hosts roam between access points, so that a change is no news. */
  roaming_gateways: z.boolean(),
} as const;

/**
 * The part `guards` of a probe's configuration. What is left out is as the probe's own file has it. Lists are added to the file's;
 * `enabled` and `active` can only turn off what the file turns on, `roaming_gateways` only turn it on. A kind that the probe does not know matches nothing.
 */
export const GuardsPart = z.object({
  ...GUARD_SETTINGS,
  exceptions: z.array(
    z.object({ ...GuardExceptionFields, kind: z.string().max(64).optional() }).refine(isGuardExceptionNarrow, NARROW),
  ).max(MAX_GUARD_EXCEPTIONS),
}).partial();
export type GuardsPart = z.infer<typeof GuardsPart>;

/** How a probe's guards are: its file's settings and the collector's together. */
export const GuardsState = z.object({
  enabled: z.boolean().describe("Whether the probe's guards watch the network."),
  active: z.boolean().describe("Whether they check a first hint by packets of their own. Else they only listen."),
  learning_until: Instant.nullable().describe("When the learning period ends or has ended, by the probe's clock. Null before the probe has heard anything."),
});
export type GuardsState = z.infer<typeof GuardsState>;
