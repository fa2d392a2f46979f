import { CREDENTIAL_PARTS } from "../uplink/credentials.ts";
import { EnrollRequest, EnrollResponse, RenewRequest, RenewResponse } from "../uplink/enrollment.ts";
import { IdsRefusal, IdsRuleCost, IdsState } from "../uplink/ids/state.ts";
import { ProbeHealth } from "../uplink/messages.ts";
import { ScanProfile } from "../uplink/scan-profiles.ts";
import { PortCounts } from "../values.ts";
import { describeFields, type FieldTexts } from "./texts.ts";

const { memory, disk, capture, queue, interface: networkInterface, hosts, configuration } = ProbeHealth.shape;
const { snmp, snmpv3, ssh } = CREDENTIAL_PARTS;
const REQUEST = "A PKCS #10 signing request in PEM, for the key that the probe keeps.";
const AUTHORITY = "The collector's CA certificate in PEM.";

/** Fields of what a probe and the collector exchange, as far as REST shows it. */
export const UPLINK_TEXTS: readonly FieldTexts[] = [
  describeFields(EnrollRequest, {
    token: "An enrollment token that was not used yet.",
    certificate_request: REQUEST,
    name: "A display name for the probe.",
  }),
  describeFields(EnrollResponse, {
    probe_id: "The probe's id.",
    tenant_id: "The tenant that it belongs to.",
    site_id: "The site that it watches.",
    certificate: "The probe's certificate in PEM.",
    ca_certificate: AUTHORITY,
    mqtt_url: "Where the probe connects to, as `mqtts://collector.example.org:8883`.",
  }),
  describeFields(RenewRequest, { certificate_request: REQUEST }),
  describeFields(RenewResponse, { certificate: "The probe's new certificate in PEM.", ca_certificate: AUTHORITY }),
  describeFields(ProbeHealth, {
    v: "Version of the message; always 1.",
    at: "When it was measured, by the probe's clock.",
    version: "The probe's version.",
    uptime_seconds: "Seconds since the probe started.",
    cpu_percent: "CPU time that the probe uses, in percent of one core.",
    load_1m: "The machine's load average of one minute.",
    memory: "Memory of the probe and its machine.",
    disk: "The disk that the probe keeps its data on.",
    temperature_celsius: "The machine's temperature in degrees Celsius. Null without a sensor.",
    capture: "Frames that the probe saw since it started.",
    queue: "Events that wait to be sent.",
    clock_offset_ms: "How far the probe's clock is ahead of the collector's, in milliseconds. Null while unknown.",
    interface: "The network interface that the probe watches.",
    hosts: "Hosts that the probe knows.",
    configuration: "Which configuration the probe uses. Older probes leave it out.",
    bundles: "Which bundles of files from the collector the probe has. Older probes leave it out.",
    guards: "How the probe's guards are. Older probes leave it out.",
    coverage: "What the probe can see of its network. Left out before it has looked, and by older probes.",
    network_facts: "Servers and routers that the probe heard in the last day. Left out while its guards are off, and by older probes.",
    traffic: "How the process is that reads all traffic and records it. Left out where the probe has none, and by older probes.",
    ids: "How the probe's intrusion detection is. Left out where the probe has none, and by older probes.",
    resolver: "How the site's resolver beside the probe is. Left out where none runs, and by older probes.",
    decoys: "The decoys beside the probe. Left out where none were heard, and by older probes.",
    network_looks: "How long the probe has listened for servers and routers. Left out as `network_facts`.",
  }),
  describeFields(IdsState, {
    state: "`off`, `loading`, `running`, or `failed`: see `error`.", error: "Why it failed, or why the newest rules do not run. Null where nothing is wrong.",
    version: "Version of the bundle whose rules run. Null for none.", loaded_at: "When these rules began to run. Null before the first.",
    load_seconds: "How long they took to load. Null before the first.", rules: "How many rules run, and how many were refused.",
    refusals: "Rules that were refused, with the reason; at most 200.", since: "Since when the counts are.", frames: "Frames that were inspected, and those that were not for lack of time.",
    alerts: "How often rules matched.", suppressed: "How often each suppression kept an alert back.", costs: "The rules that cost most.",
    suricata: "A Suricata beside the probe. Left out where there is none.",
  }),
  describeFields(IdsState.shape.rules, { loaded: "Rules that run.", refused: "Rules that do not, since something in them cannot be run." }),
  describeFields(IdsState.shape.frames, { inspected: "Frames that rules were compared with.", shed: "Frames that were left out, since there were too many." }),
  describeFields(IdsState.shape.suppressed.element, { suppression_id: "The suppression.", count: "How often it fitted." }),
  describeFields(IdsRefusal, {
    generator_id: "Group of the signature's number.", signature_id: "Number of the rule. Null where it could not be read.", keyword: "What in the rule is not run.", reason: "Why it is not run.",
  }),
  describeFields(IdsRuleCost, {
    generator_id: "Group of the signature's number.", signature_id: "Number of the rule.", checks: "How often it was tried.", matches: "How often it matched.",
    nanoseconds: "How long that took.",
  }),
  describeFields(IdsState.shape.suricata.unwrap(), {
    state: "`reading`: its log is read. `silent`: nothing comes. `missing`: there is no log.", alerts: "Alerts that it had.", frames: "Frames that it saw. Null while unknown.",
    dropped: "Frames that it dropped. Null while unknown.", error: "What is wrong. Null for nothing.",
  }),
  describeFields(memory, {
    rss_bytes: "Memory that the probe uses, in bytes.", available_bytes: "Memory that is free on the machine, in bytes.",
    total_bytes: "Memory that the machine has, in bytes.",
  }),
  describeFields(disk, { free_bytes: "Free bytes.", total_bytes: "Size in bytes." }),
  describeFields(capture, { frames: "Frames that were read.", dropped: "Frames that were dropped because the probe was too slow." }),
  describeFields(queue, {
    events: "How many.", bytes: "Their size in bytes.", oldest_at: "When the oldest one happened. Null where none waits.",
    dropped: "Events that were lost because the disk budget was spent.",
  }),
  describeFields(networkInterface, {
    name: "Its name, as `eth0`.", up: "Whether it is up.",
    networks: "Its own subnets, which may be scanned whatever the site's settings are. Older probes leave them out.",
  }),
  describeFields(hosts, { online: "Hosts that are online.", known: "Hosts that are online or were." }),
  describeFields(configuration.unwrap(), {
    revision: "Number of the configuration. Null before the first.",
    error: "Why the probe refused the last one that it received. Null where it did not.",
  }),
  describeFields(ScanProfile, {
    name: "The profile's name, for `POST /scans/start`.",
    description: "What it finds.",
    tcp_ports: "How many TCP ports of each host are scanned.",
    udp_ports: "How many UDP ports of each host are scanned.",
    banners: "Whether services are identified.",
    os: "Whether the operating system is detected.",
    packets_per_second: "The most packets that are sent in a second. Null for the probe's own rate.",
  }),
  describeFields(PortCounts, {
    open: "Ports that are open.", closed: "Ports that are closed.", filtered: "Ports that did not answer.",
    "open|filtered": "UDP ports that are open or did not answer.",
  }),
  describeFields(snmp.settings, { version: "The SNMP version.", port: "The UDP port." }),
  describeFields(snmp.secret, { community: "The community." }),
  describeFields(snmpv3.settings, {
    username: "The user's name.", context: "The context. Empty for the default one.",
    auth_protocol: "How messages are authenticated. Null for not at all, which leaves no privacy either.",
    privacy_protocol: "How messages are encrypted. Null for not at all.", port: "The UDP port.",
  }),
  describeFields(snmpv3.secret, {
    auth_password: "The password for authentication. Needed where `auth_protocol` is not null.",
    privacy_password: "The password for encryption. Needed where `privacy_protocol` is not null.",
  }),
  describeFields(ssh.settings, { username: "The user's name.", port: "The TCP port." }),
  describeFields(ssh.secret, {
    password: "The password. One of `password` and `private_key` is needed.",
    private_key: "The private key, in OpenSSH's format or PEM.", passphrase: "The passphrase of the private key, where it is encrypted.",
  }),
];
