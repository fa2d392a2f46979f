import { FeedUpdate } from "../events/feeds.ts";
import { ConfigChanged, PcapReady, VulnFound } from "../events/findings.ts";
import { HostOffline, HostState } from "../events/hosts.ts";
import { NeighborDiscovered, NeighborPower } from "../events/neighbors.ts";
import {
  AlertCreated, AlertResolved, BackupCompleted, BackupFailed, DiscoveryStorm, ErrorEvent, ProbeHealthAlert, ProbeSilent, QueueGap,
} from "../events/operations.ts";
import { PortFound } from "../events/ports.ts";
import { ScanComplete, ScanFailed, ScanRemark, ScanStarted } from "../events/scans.ts";
import { Software } from "../events/software.ts";
import { EventOrigin } from "../events/stream.ts";
import { Evidence } from "../values.ts";
import { describeFields, type FieldTexts } from "./texts.ts";

const IP = "The IPv4 or IPv6 address.";
const MAC = "The MAC address. Empty behind a router.";
const SEVERITY = "The severity.";
const scan = { scan_id: "The scan.", target: "The network that is scanned.", profile: "The scan's profile." };
const ended = {
  ...scan, hosts_total: "Addresses that were scanned.", hosts_up: "Hosts that answered.", ports_open: "Open ports that were found.",
  duration_seconds: "How long it took, in seconds.",
};
const error = { code: "What failed, as a stable code.", message: "What failed, as a text for people." };
const alert = {
  alert_id: "The alert.", title: "What happened, in one line.", severity: SEVERITY,
  device_ip: "The device's address. Empty where the alert is about no device.", type: "The alert's type.", source: "What raised it.",
};

/** Fields of the events about hosts, scans and the system that are sent to consumers. */
export const EVENT_TEXTS: readonly FieldTexts[] = [
  describeFields(EventOrigin, {
    site_id: "The site where it happened. Null where it is about no site.",
    probe_id: "The probe that saw it. Null where the collector found it.",
    device_id: "The device that it is about. Null where it is not about one device.",
  }),
  describeFields(HostState, {
    ip: "Its main address: the lowest IPv4 address, or the lowest IPv6 address where it has no other.", mac: MAC,
    hostname: "Its name. Empty while unknown.", vendor: "Who made it. Empty while unknown.",
    addresses: "Every address that it has, `ip` among them.", evidence: "The evidence of what it is.",
  }),
  describeFields(Evidence, {
    field: "The field, as `hostname`.", value: "The value that was seen.", source: "Where it was seen, as `dhcp` or `mdns:_ipp._tcp`.",
    confidence: "How sure that is, 0 to 1.", seen_at: "When it was seen last.",
  }),
  describeFields(HostOffline, {
    ip: IP, mac: MAC, last_seen_at: "When it was seen last.", missed_checks: "How many checks in a row it did not answer.",
  }),
  describeFields(PortFound, {
    ip: IP, mac: MAC, port: "The port's number.", protocol: "`tcp` or `udp`.",
    state: "The port's state in nmap's words. The collector itself reports a port as `closed` that a scan asked and did not find open any more.",
    service: "What answers there. Empty while unknown.", version: "The software and its version. Empty while unknown.",
    banner: "What the service says first. Empty while unknown.", scan_id: "The scan that found it. Null where none did.",
    software: "The software that answers. Null where it names no product. Left out while it is not known, and by older probes.",
  }),
  describeFields(Software, {
    vendor: "Who makes it. Empty while unknown.", product: "Its name.", version: "Its version. Empty while unknown.",
    edition: "Its edition. Empty while unknown.", distribution: "Who built it, with the release where it is known, as `Debian 12`. Empty while unknown.",
    package_version: "The distribution's own version, as `1:9.2p1-2+deb12u3`. Empty while unknown.",
    cpe: "Its name in CPE 2.3. Empty while unknown.", confidence: "How sure product and version are, 0 to 1.",
  }),
  describeFields(ScanStarted, {
    ...scan, hosts_total: "Addresses that are scanned.", ports: "Which ports of each host are scanned. Older probes leave it out.",
  }),
  describeFields(ScanStarted.shape.ports.unwrap(), {
    tcp: "TCP ports as `22,80,1000-1010`. Empty for none.", udp: "UDP ports in the same form. Empty for none.",
  }),
  describeFields(ScanComplete, ended),
  describeFields(ScanFailed, { ...scan, reason: "Why it failed." }),
  describeFields(ScanRemark, {
    ...error, scan_id: "The scan.", ip: "The device that answers. Empty where it is not one device.",
    mac: "Its MAC address. Empty while unknown.", addresses: "How many addresses or ports it answers for.",
  }),
  describeFields(NeighborDiscovered, {
    protocol: "The protocol that announced it.", local_interface: "The probe's interface that heard it.",
    chassis_id: "The neighbor's chassis.", port_id: "The neighbor's port.",
    port_description: "Description of the port. Empty while unknown.", system_name: "Name of the neighbor. Empty while unknown.",
    system_description: "Description of the neighbor. Empty while unknown.",
    capabilities: "What it does, in LLDP's words: `bridge`, `router`, `telephone`, `wlan-ap`, `station`.",
    management_addresses: "Addresses by which it is managed.", vlan_ids: "VLANs that it announces.",
    ttl_seconds: "Seconds after which it counts as gone without another announcement.",
    chassis_id_type: "How the chassis is named.", port_id_type: "How the port is named.",
    source_mac: "The MAC address that its announcements come from.", platform: "Its hardware. Empty while unknown.",
    vlan_names: "Names of VLANs.", native_vlan: "The VLAN of untagged frames. Null where it does not say.",
    voice_vlan: "The VLAN for phones. Null where it does not say.", power: "Power over Ethernet. Null where it does not say.",
    changed: "Names of the fields that changed. Empty for a new neighbor.",
  }),
  describeFields(NeighborDiscovered.shape.vlan_names.unwrap().element, { id: "The VLAN's number.", name: "The VLAN's name." }),
  describeFields(NeighborPower, {
    role: "`source` supplies power, `device` draws it.", class: "The power class, 0 to 8. Null where it does not say.",
    requested_milliwatts: "The power that it requests, in milliwatts. Null where it does not say.",
    allocated_milliwatts: "The power that it is allocated, in milliwatts. Null where it does not say.",
  }),
  describeFields(ConfigChanged, {
    ip: "The device's address. Empty where it has none.", hostname: "The device's name. Empty while unknown.",
    previous_version: "Number of the version before; 0 for none.", version: "Number of the new version.",
    lines_added: "Lines that are new.", lines_removed: "Lines that are gone.", changed_by: "Who changed it. Empty while unknown.",
  }),
  describeFields(PcapReady, {
    pcap_id: "The capture file.", file_name: "Its name.", size_bytes: "Its size in bytes.", packets: "Packets in it.",
    started_at: "When the first packet was seen.", finished_at: "When the last packet was seen.",
    filter: "Which packets were kept. Empty for all.", reason: "Why they were kept.",
  }),
  describeFields(VulnFound, {
    cve_id: "The vulnerability, as `CVE-2026-12345`.", ip: IP, severity: SEVERITY,
    cvss_score: "CVSS base score, 0 to 10. Null where there is none.", known_exploited: "Whether it is known to be exploited.",
    matched_service: "The service that it applies to.", matched_port: "The port of that service. Null for none.",
    cpe: "The product and version that matched, as a CPE 2.3 name.", range: "The versions that are affected, as `< 9.8`.",
    epss: "Chance of exploitation in the next 30 days, 0 to 1. Null where it is not rated.", product: "The product, as `openbsd:openssh`.",
    others: "How many more CVEs of the product were found at once, which have no event of their own.",
  }),
  describeFields(ProbeHealthAlert, {
    metric: "What was measured.", state: "`raised` above the threshold, `cleared` below it again.", severity: SEVERITY,
    value: "The measured value.", threshold: "The threshold.", unit: "The unit of both.", message: "The same in words.",
  }),
  describeFields(ErrorEvent, error),
  describeFields(QueueGap, {
    ...error, reason: "Why the probe could not keep them.", from_seq: "Sequence number of the first event that is missing.",
    to_seq: "Sequence number of the last event that is missing.", dropped: "How many events are missing.",
    since: "When the first one happened. Null while unknown.",
  }),
  describeFields(ProbeSilent, {
    ...error, name: "The probe's name.", last_heard_at: "When it was last heard. Null for never.",
    clean_stop: "Whether the probe announced that it stops.",
  }),
  describeFields(DiscoveryStorm, {
    ...error, state: "`begins`, or `continues` every ten minutes after that.", devices: "Devices that were found in that time.",
    window_seconds: "The time in which they were found, in seconds.",
  }),
  describeFields(AlertCreated, alert),
  describeFields(AlertResolved, { ...alert, resolved_by: "Who or what resolved it." }),
  describeFields(BackupCompleted, {
    backup_id: "The backup.", size_bytes: "Its size in bytes.", duration_seconds: "How long it took, in seconds.",
  }),
  describeFields(FeedUpdate, {
    update_id: "The update.", status: "`running`, or how it ended: `completed` or `failed`.",
    feed: "The feed, as `nvd`. Null where it is about the whole update.",
    state: "What is done with the feed. Null where it is about the whole update.",
    bytes: "Bytes of the feed that were downloaded.", bytes_total: "How many there are. Null while unknown.",
    pages: "Pages of the feed that were downloaded.", records: "Records of the feed so far.",
    records_total: "How many there are. Null while unknown.", message: "The same in words.",
  }),
  describeFields(BackupFailed, { backup_id: "The backup.", reason: "Why it failed." }),
];
