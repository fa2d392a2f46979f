import type { PortCounts, ScanRemarkCode } from "@lanthorn/contract/uplink";
import { formatMac } from "@lanthorn/packets";
import type { PortFinding, ServiceFinding } from "../identify/finding.ts";
import type { OpenPort } from "../identify/identify.ts";
import type { HostTarget } from "../probing/frames/packet.ts";
import type { ArpProxy } from "./run/proxy-arp-filter.ts";

/** Something that looks like many hosts or ports, and is none. */
export interface Remark {
  readonly code: ScanRemarkCode;
  readonly message: string;
  /** Empty where it is not about one. */
  readonly ip: string;
  readonly mac: string;
  /** How many it answers for. */
  readonly addresses: number;
}

/** Where a scan reports what it finds. */
export interface ScanReport {
  /** @param host.mac Empty where it was not seen. @param host.isRouted It is behind a router. */
  host(host: { readonly ip: string; readonly mac: string; readonly isRouted: boolean }): void;
  /** An open port, and again when it is known what it is. */
  port(openPort: OpenPort, finding: PortFinding | null): void;
  /** What is believed of a host beside its ports. */
  facts(ip: string, verdicts: ServiceFinding["verdicts"]): void;
  /** A part of the scan was not done. */
  fault(code: string, message: string): void;
  /** How many of a host's ports are in which state. */
  counts(ip: string, counts: { readonly tcp: PortCounts; readonly udp: PortCounts }): void;
  remark(remark: Remark): void;
}

/** Where a run reports what it finds. */
export interface RunReport {
  /** Each host once. @param isRouted It is behind a router, whose MAC it is reported with. */
  host(host: HostTarget, isRouted: boolean): void;
  /** Each open port once. */
  port(host: HostTarget, protocol: "tcp" | "udp", port: number): void;
  /** Once for each host whose ports were asked, behind its open ports. */
  counts(host: HostTarget, counts: { readonly tcp: PortCounts; readonly udp: PortCounts }): void;
  /** A host that answers on every port; no port of it is reported. A tarpit lets nobody send it anything. */
  phantom(host: HostTarget, isTarpit: boolean): void;
  /** A MAC that answers for addresses at which nobody is; but for the first few, they are not reported. */
  proxy(proxy: ArpProxy): void;
  /** Something answers TCP for so many routed addresses that it cannot be hosts; they are not reported. */
  firewall(addresses: number): void;
}

/** @returns What is said of a MAC that answers for many addresses at which nobody is. */
export function proxyRemark({ mac, addresses }: ArpProxy): Remark {
  const message = `${formatMac(mac)} answers for ${addresses} addresses: a router with proxy ARP; those at which nobody is are not published as hosts`;
  return { code: "proxy-arp", message, ip: "", mac: formatMac(mac), addresses };
}

/** @returns What is said of something that answers TCP for a whole network. */
export function firewallRemark(addresses: number): Remark {
  const message = `something answers TCP for ${addresses} addresses that answer nothing else: a firewall; they are not published as hosts`;
  return { code: "answers-for-network", message, ip: "", mac: "", addresses };
}

/** @param mac Empty where it was not seen. @returns What is said of a host that answers on every port. */
export function phantomRemark(ip: string, mac: string, isTarpit: boolean): Remark {
  const what = isTarpit ? "and accepts no data: a tarpit" : "a firewall or a tarpit";
  const message = `${ip} answers on every port${isTarpit ? " " : ": "}${what}; its ports are not published`;
  return { code: isTarpit ? "tarpit" : "answers-everything", message, ip, mac, addresses: 1 };
}
