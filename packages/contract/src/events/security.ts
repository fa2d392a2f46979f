import * as z from "zod";
import { Id, Instant, IpAddress, MacAddress, Port, PortProtocol, Severity } from "../values.ts";

const Address = z.union([IpAddress, z.literal("")]);
const Mac = z.union([MacAddress, z.literal("")]);

/** Bytes of the packets that show it, base64, at most 16 of 2 KiB. */
const PacketEvidence = z.array(z.base64().max(2800)).max(16);

/** Bytes of a buffer that a rule matched: the first 256 of them. */
const MatchedBytes = z.object({ buffer: z.string().max(64), offset: z.int().min(0), length: z.int().min(0), bytes: z.base64().max(344) });

/** An intrusion rule matched flows of one host of the site. Older probes leave out what is optional. */
export const IdsAlert = z.object({
  signature_id: z.int().min(0),
  revision: z.int().min(0),
  signature: z.string().max(512),
  category: z.string().max(128),
  /** Name of the class, as `classtype` has it. Left out where the engine does not say, and by older probes. */
  class: z.string().max(128).optional(),
  severity: Severity,
  source_ip: Address,
  source_port: Port,
  destination_ip: Address,
  destination_port: Port,
  protocol: z.string().max(16),
  mitre_techniques: z.array(z.string().max(16)).max(32),
  packets: PacketEvidence,
  /** Which engines found it: the probe's own, a Suricata beside it, or both. */
  engines: z.array(z.enum(["lanthorn", "suricata"])).min(1).max(2).optional(),
  /** Generator; 1 for rules of rule sets. */
  gid: z.int().min(0).optional(),
  priority: z.int().min(0).max(255).optional(),
  direction: z.enum(["to-server", "to-client"]).nullable().optional(),
  application: z.string().max(32).optional(),
  subject_ip: Address.optional(),
  /** Whom the subject spoke to, in the flow that matched last. */
  peer_ip: Address.optional(),
  would_block: z.boolean().optional(),
  matched: z.array(MatchedBytes).max(16).optional(),
  fields: z.record(z.string().max(64), z.string().max(512)).refine((fields) => Object.keys(fields).length <= 32, "at most 32").optional(),
  state: z.enum(["seen", "ended"]).optional(),
  count: z.int().min(1).optional(),
  /** By the probe's clock: what names the incident, and is not compared with other times. */
  since: Instant.optional(),
  last_at: Instant.optional(),
  /** Of it the alert's id is made. */
  incident_id: Id.optional(),
});
export type IdsAlert = z.infer<typeof IdsAlert>;

/** How far somebody went with a decoy, the least first. Older probes know neither `command` nor `bait_credential`. `name_poisoning` is an incident of its own: it answered for a name that no host has. */
export const HONEYPOT_STAGES = ["touch", "banner", "credential", "command", "file", "name_poisoning", "bait_credential"] as const;
/** One of `HONEYPOT_STAGES`. */
export type HoneypotStage = (typeof HONEYPOT_STAGES)[number];

/** Somebody touched a service that nobody has reason to touch; `stage` is how far they went. */
export const HoneypotHit = z.object({
  service: z.string().max(64),
  stage: z.enum(HONEYPOT_STAGES),
  severity: Severity,
  source_ip: Address,
  source_mac: Mac,
  source_port: Port,
  destination_port: Port,
  username: z.string().max(255),
  detail: z.string().max(4096),
  /** By name. Older probes leave out what follows. */
  decoy: z.string().max(64).optional(),
  destination_ip: Address.optional(),
  /** It begins, went further than before, or goes on as it was. */
  report: z.enum(["first", "rise", "summary"]).optional(),
  /** All of the decoy's services that this source used. */
  services: z.array(z.string().max(64)).max(32).optional(),
  /** Connections since it began. */
  count: z.int().min(1).optional(),
  /** Credentials that were tried since it began. */
  credentials: z.int().min(0).optional(),
  /** Some of the names that were tried. */
  usernames: z.array(z.string().max(255)).max(16).optional(),
  mitre_techniques: z.array(z.string().max(16)).max(32).optional(),
  /** By the probe's clock: what names the incident, and is not compared with other times. */
  since: Instant.optional(),
  last_at: Instant.optional(),
  /** Of it the alert's id is made. */
  incident_id: Id.optional(),
  /** A person had the probe try its decoy: it raises no alert. */
  is_test: z.boolean().optional(),
});
export type HoneypotHit = z.infer<typeof HoneypotHit>;

/** What the guards of a probe report. Each is explained in the README of the probe. */
export const GUARD_KINDS = [
  "dhcp_server", "arp_spoofing", "router_advertisement", "duplicate_ip", "dhcp_missing", "dhcp_exhaustion", "dhcpv6_server", "ndp_spoofing",
  "address_flapping", "address_scan", "arp_storm", "mac_flooding", "spanning_tree", "neighbor_spoofing", "name_poisoning", "unexpected_ipv6",
  "vlan_hopping", "gateway_changed",
] as const;
/** One of `GUARD_KINDS`. */
export type GuardKind = (typeof GUARD_KINDS)[number];

/** What the network does not know as its own: a DHCP server, a router advertisement, an ARP claim and the like. */
export const RogueDetected = z.object({
  kind: z.enum(GUARD_KINDS),
  /** `ended`: the cause is gone. Older probes leave it out: `seen`. */
  state: z.enum(["seen", "ended"]).optional(),
  /** Who or what it is about, among those of its kind. Older probes leave it out. */
  subject: z.string().max(128).optional(),
  severity: Severity,
  ip: Address,
  mac: Mac,
  expected_macs: z.array(MacAddress).max(32),
  vlan_id: z.int().min(0).max(4095).nullable(),
  detail: z.string().max(1024),
  /** What else was seen, by name. Older probes leave it out, as what follows. */
  facts: z.record(z.string().max(64), z.string().max(512)).refine((facts) => Object.keys(facts).length <= 32, "at most 32").optional(),
  /** How often it was seen since it began. */
  count: z.int().min(1).optional(),
  /** When it began, by the probe's clock: what names the incident, and is not compared with other times. */
  since: Instant.optional(),
  /** The incident, by an id that the probe gave it when it began. Of it the alert's id is made. Older probes leave it out. */
  incident_id: Id.optional(),
  packets: PacketEvidence,
});
export type RogueDetected = z.infer<typeof RogueDetected>;

/** A client takes part in something that its DNS shows: it asked for a name that a list has, or in a way in which malware asks. */
export const DnsThreat = z.object({
  client_ip: Address,
  client_mac: Mac,
  query_name: z.string().max(255),
  query_type: z.string().max(16),
  action: z.enum(["blocked", "reported"]),
  feed: z.string().max(128),
  reason: z.string().max(512),
  severity: Severity,
  listed_since: Instant.nullable(),
  /** Who saw it: the probe's resolver, which the client asked, or the detectors that read other people's DNS. */
  mode: z.enum(["resolver", "passive"]).optional(),
  /** What it is part of, one alert for each and each client: a list, a family, a domain, a server. */
  campaign: z.string().max(255).optional(),
  /** As a list has it, or which detector: `tunnel`, `generated_names`, … */
  category: z.string().max(64).optional(),
  /** The policy of the resolver that decided. */
  policy: z.string().max(128).optional(),
  /** All lists that have the name. */
  lists: z.array(z.string().max(128)).max(16).optional(),
  /** The record of the answer that a list has, where it was not the name itself. */
  blocked_record: z.string().max(512).nullable().optional(),
  server_ip: Address.optional(),
  sample_names: z.array(z.string().max(255)).max(8).optional(),
  mitre_techniques: z.array(z.string().max(16)).max(32).optional(),
  /** Older probes leave out what follows. */
  packets: PacketEvidence.optional(),
  state: z.enum(["seen", "ended"]).optional(),
  count: z.int().min(1).optional(),
  /** By the probe's clock: what names the incident, and is not compared with other times. */
  since: Instant.optional(),
  last_at: Instant.optional(),
  /** Of it the alert's id is made. */
  incident_id: Id.optional(),
});
export type DnsThreat = z.infer<typeof DnsThreat>;

/** What a baseline has facts of. The first four are of a site, the others of a device. */
export const BASELINE_FACTS = [
  "device", "dhcp_server", "gateway", "dns_server", "port", "service", "host_key", "certificate", "neighbor", "presence",
] as const;
/** One of `BASELINE_FACTS`. */
export type BaselineFactKind = (typeof BASELINE_FACTS)[number];

/** How what is there compares to its baseline; only what both have looked at is compared. */
export const BASELINE_OUTCOMES = ["appeared", "gone", "changed", "replaced", "not_checked"] as const;
/** One of `BASELINE_OUTCOMES`. */
export type BaselineOutcome = (typeof BASELINE_OUTCOMES)[number];

/** `learned` is the summary of a learning period; `traffic` is of released versions. */
const BASELINE_DIFF_KINDS = [
  "new_device", "missing_device", "new_port", "closed_port", "changed_service", "new_neighbor", "traffic", "replaced_device", "changed_host_key",
  "changed_certificate", "changed_neighbor", "missing_neighbor", "new_dhcp_server", "changed_dhcp_server", "missing_dhcp_server", "new_gateway",
  "changed_gateway", "missing_gateway", "new_dns_server", "missing_dns_server", "unusual_time", "learned",
] as const;

/** The network differs from its baseline: what was expected there, what is there now. The collector compares. */
export const BaselineDiffAlert = z.object({
  kind: z.enum(BASELINE_DIFF_KINDS),
  severity: Severity,
  ip: Address,
  mac: Mac,
  port: Port.nullable(),
  protocol: PortProtocol.nullable(),
  expected: z.string().max(1024),
  observed: z.string().max(1024),
  baseline_at: Instant,
  /** `ended`: it does not differ any more, or was accepted. Left out: `seen`. */
  state: z.enum(["seen", "ended"]).optional(),
  outcome: z.enum(BASELINE_OUTCOMES).optional(),
  /** The kind and key of the fact. */
  fact: z.enum(BASELINE_FACTS).optional(),
  key: z.string().max(255).optional(),
  difference_id: Id.optional(),
  baseline_id: Id.optional(),
  /** When what was expected was last seen so, and when what is observed was looked at. */
  expected_at: Instant.nullable().optional(),
  observed_at: Instant.nullable().optional(),
});
export type BaselineDiffAlert = z.infer<typeof BaselineDiffAlert>;

/** What an anomaly looks most like. */
export const ANOMALY_KINDS = ["exfiltration", "scan", "admin_protocol", "new_region", "unusual_hour", "beacon", "unusual_amount"] as const;
/** One of `ANOMALY_KINDS`. */
export type AnomalyKind = (typeof ANOMALY_KINDS)[number];

/** One thing that was unusual, in its own unit: bytes, a number, a share. `share` is of the whole evidence. */
const AnomalyFeature = z.object({
  name: z.string().max(64), share: z.number().min(0).max(1), observed: z.number(), expected_low: z.number(), expected_high: z.number(),
  /** At this hour of such a day. */
  usual: z.number(),
});

/** A device's behavior far from what is usual for it and its like; `score` 0–1. Older senders leave out what is optional. */
export const AnomalyDetected = z.object({
  metric: z.string().max(128),
  ip: Address,
  mac: Mac,
  score: z.number().min(0).max(1),
  expected: z.number(),
  observed: z.number(),
  severity: Severity,
  explanation: z.string().max(1024),
  kind: z.enum(ANOMALY_KINDS).optional(),
  /** The device's name at the probe: its MAC address, or its address behind a router. */
  device: z.string().max(64).optional(),
  /** Like devices that it was compared with, as `uses tcp/443`; "" for none. */
  group: z.string().max(64).optional(),
  /** The three that weigh most. `metric`, `expected` and `observed` are of the first. */
  features: z.array(AnomalyFeature).min(1).max(3).optional(),
  /** By packet time. */
  since: Instant.optional(),
  /** Hosts that it has to do with, and what was met for the first time. */
  peers: z.array(z.string().max(128)).max(4).optional(),
  news: z.array(z.string().max(128)).max(16).optional(),
  /** Values of the first feature, up to `ends_at`. */
  series: z.object({ bucket_seconds: z.int().min(1).max(86_400), ends_at: Instant, values: z.array(z.number().min(0)).max(48) }).optional(),
  /** Series of the whole site that were unusual in that hour, the most unusual first; `observed` is the value of the five minutes before `at`. */
  site_series: z.array(z.object({ name: z.string().max(64), score: z.number().min(0).max(1), observed: z.number(), at: Instant })).max(16).optional(),
  mitre_techniques: z.array(z.string().max(16)).max(32).optional(),
  /** False for one beyond the day's budget: it is kept, and raises no alert. */
  is_alert: z.boolean().optional(),
  /** Of it the alert's id is made. */
  incident_id: Id.optional(),
});
export type AnomalyDetected = z.infer<typeof AnomalyDetected>;
