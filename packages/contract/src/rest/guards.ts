import * as z from "zod";
import { GUARD_KINDS } from "../events/security.ts";
import { GUARD_SETTINGS, GuardsState, isGuardExceptionNarrow, MAX_GUARD_REASON } from "../uplink/guards.ts";
import { Id, Instant, IpNetwork, MacAddress } from "../values.ts";
import { MacInput } from "./mac.ts";

const {
  enabled, active, learning_minutes: learningMinutes, quiet_seconds: quietSeconds, dhcp_servers: dhcpServers, routers, roaming_gateways: roamingGateways,
} = GUARD_SETTINGS;

const SETTINGS = {
  enabled: enabled.describe("Whether the site's probes watch for attacks on the network. False turns it off; a probe whose own file turns it off stays off."),
  active: active.describe(
    "Whether a first hint is checked by packets to the hosts that it is about, before an alert is raised. False: the probes only listen. "
      + "A probe whose own file says false only listens.",
  ),
  learning_minutes: learningMinutes.nullable()
    .describe("For how many minutes after its first start a probe learns what is normal. Null for what its own file says, an hour by default."),
  quiet_seconds: quietSeconds.nullable()
    .describe("After how many seconds without a sign an incident is over. Null for what the probe's own file says, 300 by default."),
  dhcp_servers: dhcpServers.describe("Addresses of DHCP servers that are right, beside those that probes learn."),
  routers: routers.describe("Addresses of routers and gateways that are right, beside those that probes learn."),
  roaming_gateways: roamingGateways.describe(
    "Whether the gateway's MAC address changes with the access point that a probe or host is at, so that a change is not reported. A gateway that two "
      + "devices answer for is reported all the same. A probe whose own file says true takes it for true.",
  ),
};

/** How a probe answered when it was last asked to learn anew. `no_answer`: it did not within half a minute, and does not do it any more. */
const LEARNING_STATUSES = ["sent", "done", "failed", "no_answer"] as const;

/** The last time that a probe was asked to learn anew. */
const GuardLearning = z.object({
  asked_at: Instant.describe("When it was asked to learn anew."),
  asked_by: z.string().describe("Name of the user who asked."),
  status: z.enum(LEARNING_STATUSES).describe(
    "`sent`: it has not answered yet. `done`: it learns. `failed`: it refused, see `error`. `no_answer`: it was not there; ask again.",
  ),
  error: z.string().nullable().describe("Why it failed. Null where it did not."),
});

/** The guards of one probe. */
const ProbeGuards = z.object({
  probe_id: Id.describe("The probe's id."),
  name: z.string().describe("The probe's name."),
  is_online: z.boolean().describe("Whether the probe is there now. Where it is not, nothing is watched, whatever `state` says."),
  state: GuardsState.nullable().describe("How its guards are, as it reported last. Null where it has not, or is too old."),
  learning: GuardLearning.nullable().describe("The last time that it was asked to learn anew. Null where it never was."),
});
/** The guards of one probe. */
export type ProbeGuards = z.infer<typeof ProbeGuards>;

/** What a site's probes watch for attacks by, and how they are. */
export const SiteGuards = z.object({
  site_id: Id.describe("The site."),
  ...SETTINGS,
  exceptions: z.int().min(0).describe("How many exceptions the site has that have not expired."),
  probes: z.array(ProbeGuards).describe("The site's probes, but for revoked ones."),
});
export type SiteGuards = z.infer<typeof SiteGuards>;

/** Fields left out stay. */
export const SiteGuardsUpdate = z.strictObject(SETTINGS).partial();
export type SiteGuardsUpdate = z.infer<typeof SiteGuardsUpdate>;

/** Something that is right though a guard would report it. Every part that is not null must match. */
export const GuardExceptionRecord = z.object({
  id: Id.describe("The exception's id."),
  site_id: Id.describe("The site where it holds."),
  kind: z.enum(GUARD_KINDS).nullable().describe("What is not reported. Null for any kind."),
  ip: z.string().nullable().describe("An address, or a network as `10.0.0.0/24`. Null for any."),
  mac: MacAddress.nullable().describe("A MAC address. Null for any."),
  reason: z.string().describe("Why it is right."),
  created_by: z.string().describe("Name of the user who added it."),
  created_at: Instant.describe("When it was added."),
  expires_at: Instant.nullable().describe("When it ends. Null for one without an end."),
});
export type GuardExceptionRecord = z.infer<typeof GuardExceptionRecord>;

/** At least one of `kind`, `ip` and `mac`. */
export const GuardExceptionCreate = z.strictObject({
  kind: z.enum(GUARD_KINDS).optional().describe("What is not reported. Any kind if left out."),
  ip: IpNetwork.optional().describe("The address that a report names, or a network that it is in. Any if left out."),
  mac: MacInput.optional().describe("The MAC address that a report names. Any if left out."),
  reason: z.string().trim().min(1).max(MAX_GUARD_REASON).describe("Why it is right, for later readers."),
  expires_at: Instant.optional().describe("When it ends. It has no end if left out."),
}).refine(isGuardExceptionNarrow, "at least one of kind, ip and mac is needed");
export type GuardExceptionCreate = z.infer<typeof GuardExceptionCreate>;

/** Which probes were asked to learn anew. */
export const GuardsLearnAnswer = z.object({
  probes: z.array(ProbeGuards).describe("The site's probes. `learning` says how each one answered so far; read the site's guards again for more."),
});
export type GuardsLearnAnswer = z.infer<typeof GuardsLearnAnswer>;
