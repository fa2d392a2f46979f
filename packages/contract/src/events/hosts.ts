import * as z from "zod";
import { Evidence, Instant, IpAddress, MacAddress, PresenceState } from "../values.ts";

/**
 * What the probe holds true of one host now. Always the whole state, never a difference, so that a repeated or late
 * event does no harm. `hostname` and `vendor` are empty while they are unknown.
 */
export const HostState = z.object({
  /** The primary address: the numerically lowest IPv4 in `addresses`, or the lowest IPv6 where there is no IPv4. */
  ip: IpAddress,
  /** The interface's MAC; empty for a host behind a router, known by its address only. */
  mac: z.union([MacAddress, z.literal("")]),
  hostname: z.string().max(255),
  vendor: z.string().max(255),
  /** Every address seen live on this MAC, `ip` among them. */
  addresses: z.array(IpAddress).min(1).max(256),
  evidence: z.array(Evidence).max(64),
});
export type HostState = z.infer<typeof HostState>;

/** A host's address, name or vendor changed, or something else became evident of it. `changed` names the fields. */
export const HostChanged = HostState.extend({ changed: z.array(z.enum(["ip", "addresses", "hostname", "vendor", "evidence"])).min(1) });

const Presence = z.object({ ip: IpAddress, mac: z.union([MacAddress, z.literal("")]), last_seen_at: Instant });

/** An offline host gave evidence of life again. */
export const HostOnline = Presence;

/** A host missed at least three checks over at least two minutes. */
export const HostOffline = Presence.extend({ missed_checks: z.int().min(3) });

/**
 * When hosts were last seen, once a minute and after each connection. It refreshes `last_seen`, and turns `unknown`
 * devices back to what they are. A host is in it only if the probe has had evidence since it started.
 */
export const PresenceReport = z.object({
  hosts: z.array(Presence.extend({ presence_state: PresenceState.exclude(["unknown"]) })).min(1).max(500),
});
