import { AnomalyDetected, BaselineDiffAlert, DnsThreat, HoneypotHit, IdsAlert, RogueDetected } from "../events/security.ts";
import { describeFields, type FieldTexts } from "./texts.ts";

const SEVERITY = "The severity.";
const PACKETS = "Packets that show it: bytes in Base64, at most 16 of 2 KiB.";
const host = { ip: "The address that it is about. Empty for none.", mac: "The MAC address that it is about. Empty for none." };

/** Fields of the events about attacks and anomalies. */
export const SECURITY_EVENT_TEXTS: readonly FieldTexts[] = [
  describeFields(IdsAlert, {
    signature_id: "Number of the rule.", revision: "Revision of the rule.", signature: "The rule's text for people.",
    category: "What kind of attack it is.", class: "Name of the rule's class, as `trojan-activity`. Left out where the engine does not say it.", severity: SEVERITY,
    source_ip: "Where the packets came from. Empty for none.", source_port: "The port there; 0 for none.",
    destination_ip: "Where the packets went to. Empty for none.", destination_port: "The port there; 0 for none.",
    protocol: "The protocol, as `tcp`.", mitre_techniques: "MITRE ATT&CK techniques, as `T1557.002`.", packets: PACKETS,
    engines: "Which engines found it: `lanthorn` (the probe's own), `suricata` (one beside it). Older probes leave it out, as what follows.",
    gid: "The rule's generator; 1 for rules of rule sets.", priority: "The rule's priority; 1 is the gravest.",
    direction: "Which side's bytes matched: `to-server` or `to-client`. Null where that is not known.", application: "The application's protocol, as `http`. Empty for none.",
    subject_ip: "The host of the site that it is about. Empty where there are too many.", peer_ip: "Whom that host spoke to, in the flow that matched last. Empty for none.",
    would_block: "The rule asks for the packet to be dropped or the connection to be reset. The probe does neither.",
    matched: "What the rule matched: the buffer, where in it, and the first 256 bytes in Base64.", fields: "What the application said, by name: `hostname`, `url`, `query`, `sni`.",
    state: "`seen`: it goes on. `ended`: it was not seen for half an hour.", count: "How many flows' matches were counted since it began.",
    since: "When it began, by the probe's clock.", last_at: "When it was last seen, by the probe's clock.",
    incident_id: "The probe's id of the incident, from which the alert's id is made.",
  }),
  describeFields(IdsAlert.shape.matched.unwrap().element, {
    buffer: "The buffer, as `http.uri`.", offset: "Where in the buffer it matched.", length: "How many bytes matched.", bytes: "The first 256 of them at most, in Base64.",
  }),
  describeFields(HoneypotHit, {
    service: "The decoy's service, as `ssh`, of the furthest step.", stage: "How far it went: `touch`, `banner`, `credential`, `command`, `file`, `bait_credential`. Or `name_poisoning`: it answered for a name that no host has.", severity: SEVERITY,
    source_ip: "The client's address. Empty while unknown.", source_mac: "The MAC address. Empty behind a router.",
    source_port: "The port that it came from.", destination_port: "The decoy's port.",
    username: "The user name that was tried. Empty for none.", detail: "What the client did, as text.",
    decoy: "The decoy's name. Older probes leave it out, as what follows.", destination_ip: "The decoy's address. Empty while unknown.",
    report: "`first`: it begins. `rise`: it went further than before. `summary`: it goes on, at most once in ten minutes.",
    services: "All services of the decoy that this source used.", count: "How many connections were counted since it began.",
    credentials: "How many credentials were tried since it began. The passwords are not reported.", usernames: "Some of the user names that were tried, at most 16.",
    mitre_techniques: "MITRE ATT&CK techniques, as `T1110.001`.", since: "When it began, by the probe's clock.", last_at: "When it was last seen, by the probe's clock.",
    incident_id: "The probe's id of the incident, from which the alert's id is made.",
    is_test: "A person had the probe try its decoy: it raises no alert. Left out otherwise.",
  }),
  describeFields(RogueDetected, {
    kind: "What it is. The probe's README explains each.",
    state: "`seen`: it goes on. `ended`: the cause is gone. Older probes leave it out: `seen`.",
    subject: "Who or what it is about, among those of its kind. Older probes leave it out.",
    facts: "What else was seen, by name, as what a rogue DHCP server hands out. Older probes leave it out.",
    count: "How often it was seen since it began. Older probes leave it out.",
    since: "When it began, by the probe's clock. Older probes leave it out.",
    incident_id: "The probe's id of the incident, from which the alert's id is made. Older probes leave it out.",
    severity: SEVERITY, ...host, expected_macs: "MAC addresses that are expected there.",
    vlan_id: "The VLAN. Null for untagged frames.", detail: "A description as text.", packets: PACKETS,
  }),
  describeFields(DnsThreat, {
    client_ip: "The client's address. Empty while unknown.", client_mac: "The client's MAC address. Empty while unknown.",
    query_name: "The name that was queried.", query_type: "The record type, as `A`.",
    action: "`blocked`: the name was refused. `reported`: it was answered.", feed: "The list that has the name. Empty where a detector found it.",
    reason: "Why it is listed, or what the detector saw.", severity: SEVERITY, listed_since: "Since when it is listed. Null while unknown.",
    mode: "`resolver`: the probe's resolver saw it. `passive`: the probe read it in other traffic. Older probes leave it out, as what follows.",
    campaign: "What it is part of: a list, a family, a domain, a server. There is one alert for each client and campaign.",
    category: "The list's category, or the detector: `tunnel`, `generated_names`, `fast_flux`, `rebinding`, `forged_answer`, `rogue_resolver`, `encrypted_dns`.",
    policy: "The resolver's policy that decided. Empty for none.", lists: "All lists that have the name.",
    blocked_record: "The record of the answer that is listed, as `CNAME tracker.example`. Null where it is the name itself.",
    server_ip: "The resolver or server that was asked. Empty while unknown.", sample_names: "Some of the names that were queried, at most eight.",
    mitre_techniques: "MITRE ATT&CK techniques, as `T1568.002`.", packets: PACKETS,
    state: "`seen`: it goes on. `ended`: it was not seen for half an hour.", count: "How often it was seen since it began.",
    since: "When it began, by the probe's clock.", last_at: "When it was last seen, by the probe's clock.",
    incident_id: "The probe's id of the incident, from which the alert's id is made.",
  }),
  describeFields(BaselineDiffAlert, {
    kind: "What differs.", severity: SEVERITY, ...host, port: "The port. Null for none.", protocol: "`tcp` or `udp`. Null for none.",
    expected: "The value in the baseline.", observed: "The value now.", baseline_at: "When the baseline was taken.",
    state: "`seen`: it differs. `ended`: it does not differ any more, or was accepted. Left out for `seen`.",
    outcome: "`appeared`, `gone`, `changed` or `replaced`.", fact: "The kind of the baseline's fact.", key: "Which one among those of its kind, as `tcp/22`.",
    difference_id: "The difference at `/baselines/differences`.", baseline_id: "The baseline that it differs from.",
    expected_at: "When what was expected was last seen so. Null where it never was.",
    observed_at: "When what is observed was looked at. Null where it was not.",
  }),
  describeFields(AnomalyDetected, {
    metric: "What was measured.", ...host, score: "How unusual it is, 0 to 1.", expected: "The value that was expected.",
    observed: "The value that was measured.", severity: SEVERITY, explanation: "The explanation as text.",
    kind: "What it looks most like: `exfiltration`, `scan`, `admin_protocol`, `new_region`, `unusual_hour`, `beacon`, `unusual_amount`. Older senders leave it out, as what follows.",
    device: "The device's name at the probe: its MAC address, or its address behind a router.", group: "Like devices that it was compared with, as `uses tcp/443`. Empty for none.",
    features: "What weighs most, the heaviest first. `metric`, `expected` and `observed` are of the first.", since: "When it began, by the time of packets.",
    peers: "Hosts that it has to do with.", news: "What was met for the first time.", series: "Values of the first feature in the hours before, for a picture.",
    site_series: "What was unusual of the whole site in that hour, the most unusual first: of an update or an outage more than one device is the cause.",
    mitre_techniques: "MITRE ATT&CK techniques, as `T1048`.", is_alert: "False for one beyond the day's budget: it is kept, and raises no alert.",
    incident_id: "The probe's id of the incident, from which the alert's id is made.",
  }),
  describeFields(AnomalyDetected.shape.features.unwrap().element, {
    name: "What was measured, as `bytes_to_rare`.", share: "Its part in the whole evidence, 0 to 1.", observed: "The value that was measured.", expected_low: "The least that is expected.",
    expected_high: "The most that is expected.", usual: "What is usual at this hour of such a day.",
  }),
  describeFields(AnomalyDetected.shape.site_series.unwrap().element, {
    name: "What was measured, as `bytes_out`.", score: "How unusual it was for the site, 0 to 1.", observed: "The value of five minutes that was the most unusual.", at: "When these five minutes ended.",
  }),
  describeFields(AnomalyDetected.shape.series.unwrap(), {
    bucket_seconds: "How many seconds each value stands for.", ends_at: "When the last one ends.", values: "The values, oldest first.",
  }),
];
