import * as z from "zod";
import { ANOMALY_KINDS } from "../events/security.ts";
import { LearnedBehaviour, LIFECYCLES, MAX_BEHAVIOUR_DEVICES } from "../uplink/anomalies.ts";
import { TrafficHealth } from "../uplink/captures.ts";
import { ProbeCoverage } from "../uplink/coverage.ts";
import { Id, Instant, Severity } from "../values.ts";
import { BooleanQuery, IdPageQuery, listQuery, PageQuery, PeriodQuery } from "./envelopes.ts";

const Kind = z.enum(ANOMALY_KINDS);
const KINDS = "`exfiltration`: much was sent to hosts that few devices use. `scan`: very many hosts or ports were asked. `admin_protocol`: a session of administration that was never there before. "
  + "`new_region`: a country or operator that was never spoken to. `unusual_hour`: it is busy when it and its like are not. `beacon`: it calls a new host at regular times. `unusual_amount`: far more than is usual.";

const HEAD = {
  id: Id.describe("The anomaly's id."),
  site_id: Id.describe("The site."),
  probe_id: Id.nullable().describe("The probe that saw it."),
  device_id: Id.nullable().describe("The device. Null where none is known at this address."),
  kind: Kind.describe(`What it looks most like. ${KINDS}`),
  device: z.string().describe("The device's name at the probe: its MAC address, or its address behind a router."),
  ip: z.string().describe("The device's address. Empty while unknown."),
  mac: z.string().describe("The device's MAC address. Empty behind a router."),
  group: z.string().describe("Like devices that it was compared with, by the ports that they use or offer most. Empty for none."),
  severity: Severity.describe("The severity."),
  score: z.number().describe("How unusual it is, 0 to 1; what is reported begins at 0.5."),
  metric: z.string().describe("What weighs most, as `bytes_to_rare`."),
  observed: z.number().describe("The value of it that was measured."),
  expected_low: z.number().describe("The least that is expected."),
  expected_high: z.number().describe("The most that is expected."),
  usual: z.number().describe("What is usual at this hour of such a day."),
  explanation: z.string().describe("The explanation as text."),
  techniques: z.array(z.string()).describe("MITRE ATT&CK techniques, as `T1048`."),
  since: Instant.describe("When it began, by the time of packets."),
  found_at: Instant.describe("When it was found."),
  is_alert: z.boolean().describe("Whether it raised an alert. False for one beyond the day's budget, and for one that was said to be normal before."),
  alert_id: Id.nullable().describe("The alert that it raised, or that was open for the same and it became part of. Null for none."),
  is_normal: z.boolean().describe("Whether somebody said that this is normal."),
};

/** Something unusual that a device did. */
export const AnomalyRow = z.object(HEAD);
export type AnomalyRow = z.infer<typeof AnomalyRow>;

/** With all that explains it. */
export const AnomalyDetails = z.object({
  ...HEAD,
  features: z.array(z.object({
    name: z.string().describe("What was measured, as `bytes_to_rare`."), share: z.number().describe("Its part in the whole evidence, 0 to 1."), observed: z.number().describe("The value that was measured."),
    expected_low: z.number().describe("The least that is expected."), expected_high: z.number().describe("The most that is expected."), usual: z.number().describe("What is usual at this hour of such a day."),
  })).describe("The three features that weigh most, the heaviest first."),
  peers: z.array(z.string()).describe("Hosts that it has to do with."),
  news: z.array(z.string()).describe("What was met for the first time."),
  series: z.object({
    bucket_seconds: z.int().describe("How many seconds each value stands for."), ends_at: Instant.describe("When the last one ends."), values: z.array(z.number()).describe("The values, oldest first."),
  }).nullable().describe("The first feature in the hours before, for a picture. Null where the probe did not say it."),
  site_series: z.array(z.object({
    name: z.string().describe("What was measured, as `bytes_out`."), score: z.number().describe("How unusual it was for the site, 0 to 1."),
    observed: z.number().describe("The value of five minutes that was the most unusual."), at: Instant.describe("When these five minutes ended."),
  })).describe("What was unusual of the whole site in that hour, the most unusual first: of an update or an outage more than one device is the cause. Empty for nothing."),
  feedback_id: Id.nullable().describe("By which feedback it is normal. Null where nobody said so."),
  pcap_ids: z.array(Id).describe("Captures that the probe made of the device as the alert was raised, at most 20, the newest first. None for one that raised no alert."),
  around: z.array(z.object({
    type: z.string().describe("What happened, as the event log names it: `host_found`, `config_changed`, `scan_started`."), at: Instant.describe("When it happened."),
    device_id: Id.nullable().describe("The device that it is about. Null for none."),
  })).describe("What changed at the site within an hour before it began and until it was found: the first six each of new devices, changed configurations and scans."),
});
export type AnomalyDetails = z.infer<typeof AnomalyDetails>;

/** The newest first. */
export const AnomaliesQuery = IdPageQuery.extend(PeriodQuery.shape).extend({
  site_id: Id.optional().describe("Only this site."),
  device_id: Id.optional().describe("Only this device."),
  kind: listQuery(ANOMALY_KINDS).optional().describe("Only these kinds, with commas between them."),
  is_alert: BooleanQuery.optional().describe("Only those that raised an alert, or that did not."),
  is_normal: BooleanQuery.optional().describe("Only those that somebody said are normal, or of which nobody did."),
});
export type AnomaliesQuery = z.infer<typeof AnomaliesQuery>;

/** What a person says of an anomaly. */
export const AnomalyFeedbackCreate = z.strictObject({
  scope: z.enum(["device", "group"]).default("device").describe("`device`: normal for this device. `group`: normal for all devices like it."),
  until: Instant.optional().describe("Until when it is normal. Always if left out."),
  reason: z.string().trim().max(255).default("").describe("Why it is normal, for later readers."),
});
export type AnomalyFeedbackCreate = z.infer<typeof AnomalyFeedbackCreate>;

/** Something that people said is normal at a site. */
export const AnomalyFeedback = z.object({
  id: Id.describe("The feedback's id."),
  site_id: Id.describe("The site."),
  kind: Kind.describe("What is normal."),
  device: z.string().nullable().describe("The device, by its name at the probe. Null for a group."),
  group: z.string().nullable().describe("The group of like devices. Null for one device."),
  reason: z.string().describe("Why it is normal. Empty where nobody said it."),
  created_by: z.string().describe("Name of the user who said it."),
  created_at: Instant.describe("When it was said."),
  until: Instant.nullable().describe("Until when it holds. Null for always."),
});
export type AnomalyFeedback = z.infer<typeof AnomalyFeedback>;

/** Of one site, or of all. */
export const AnomalyFeedbackQuery = IdPageQuery.extend({ site_id: Id.optional().describe("Only this site.") });

const OtherHosts = ProbeCoverage.shape.other_hosts.shape.value.nullable().describe(
  "What the probe sees of what other hosts say to each other. `both_ways`: all of it, as on a mirror port. `one_way`: some. `none`: it is at an access port, and of devices other than itself only presence, DHCP and other broadcasts are learned. "
    + "Null while it is not known: it has not looked yet, or reads its traffic from another interface.",
);

/** How the behavior of the devices of a site is watched by one probe. */
export const AnomalyModel = z.object({
  probe_id: Id.describe("The probe."),
  site_id: Id.describe("Its site."),
  name: z.string().describe("The probe's name."),
  is_online: z.boolean().describe("Whether the probe is there now."),
  other_hosts: OtherHosts,
  state: TrafficHealth.shape.anomaly.unwrap().nullable().describe("How many devices it knows, in which state, and what it found, as it reported last. Null where it does not watch: it reads no traffic, or is too old."),
});
export type AnomalyModel = z.infer<typeof AnomalyModel>;

/** By their names at the probe. */
export const AnomalyModelDevicesQuery = PageQuery.extend({
  per_page: PageQuery.shape.per_page.unwrap().max(MAX_BEHAVIOUR_DEVICES - 1).default(100).describe(`The most records on a page, 1 to ${MAX_BEHAVIOUR_DEVICES - 1}.`),
  cursor: z.string().max(64).optional().describe("`meta.next_cursor` of the page before."),
  lifecycle: listQuery(LIFECYCLES).optional().describe("Only devices in these states, with commas between them."),
});
export type AnomalyModelDevicesQuery = z.infer<typeof AnomalyModelDevicesQuery>;

/** What is usual for a device, as each probe of its site learned it. */
export const DeviceBehaviour = z.object({
  device_id: Id.describe("The device."),
  site_id: Id.describe("Its site."),
  probes: z.array(z.object({
    probe_id: Id.describe("The probe."),
    name: z.string().describe("The probe's name."),
    problem: z.string().nullable().describe("Why it is not known what the probe learned, in words: it is away, or reads no traffic. Null where it answered."),
    other_hosts: OtherHosts,
    behaviour: LearnedBehaviour.nullable().describe("What is usual for the device. Null where the probe does not know the device, or did not answer."),
  })).describe("The site's probes that are not revoked, at most 16. What is learned stays on the probe: each is asked."),
});
export type DeviceBehaviour = z.infer<typeof DeviceBehaviour>;

const OfDevice = Id.optional().describe("Only this device. All that the probe knows if left out.");

/** Which devices are learned no more, or again. */
export const AnomalyModelFreeze = z.strictObject({
  device_id: OfDevice,
  is_frozen: z.boolean().default(true).describe("`true`: what is usual stays as it is, and is compared with. `false`: it is learned again."),
});
export type AnomalyModelFreeze = z.infer<typeof AnomalyModelFreeze>;

/** Which devices are forgotten. */
export const AnomalyModelReset = z.strictObject({ device_id: OfDevice });
export type AnomalyModelReset = z.infer<typeof AnomalyModelReset>;

/** What a probe did. */
export const AnomalyModelChange = z.object({
  probe_id: Id.describe("The probe."),
  devices: z.int().describe("How many devices it changed, or that were so already. 0 where it does not know the device."),
});
export type AnomalyModelChange = z.infer<typeof AnomalyModelChange>;
