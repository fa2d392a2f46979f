import type { PortCounts } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";
import type { AddressBook } from "../../probing/address-book.ts";
import type { HostTarget } from "../../probing/frames/packet.ts";
import type { ScanLink } from "../../probing/scan-link.ts";
import { noCounts } from "../ports/port-counts.ts";
import { createPortScan, type PortScan } from "../ports/scan-ports.ts";
import { scanUdp } from "../ports/scan-udp.ts";
import type { ScanPart } from "./scan-parts.ts";
import type { RunReport } from "../scan-report.ts";

/** Looks at the ports of the hosts of each part of a scan. */
export interface PartPorts {
  /** Reports the open ports of these hosts, then how many of each host are in which state. @throws As `PortScan.scan`. */
  scan(part: ScanPart, hosts: readonly HostTarget[]): Promise<void>;
  /** How far the TCP ports of a part are: 0 to 1. */
  progressOf(part: ScanPart): number;
}

/** @param deps.openLink Another link for UDP, which shares the first one's numbers of IPv6 addresses. */
export function createPartPorts(deps: {
  readonly link: ScanLink;
  readonly openLink: (book?: AddressBook) => ScanLink;
  readonly tcpPorts: readonly number[];
  readonly udpPorts: readonly number[];
  readonly framesPerSecond: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly report: RunReport;
}): PartPorts {
  const { link, report } = deps;
  const scans = new Map<ScanPart, PortScan>();
  const scanOf = (part: ScanPart): PortScan => {
    const scan = scans.get(part) ?? createPortScan({
      ...deps, source: part.source(), onPort: (host, port) => report.port(host, "tcp", port),
      onPhantom: (host, isTarpit) => report.phantom(host, isTarpit), ...(part.quietMs === undefined ? {} : { quietMs: part.quietMs }),
    });
    scans.set(part, scan);
    return scan;
  };
  /** By a link of its own, so that it takes its time beside TCP and not after it. */
  const scanUdpOf = async (part: ScanPart, hosts: readonly HostTarget[]): Promise<readonly PortCounts[]> => {
    if (deps.udpPorts.length === 0) return [];
    // The protocols' questions are part of naming services, which a quiet daemon has not loaded.
    const { udpRequests } = await import("../../probing/frames/udp-requests.ts");
    const udpLink = deps.openLink(link.book);
    try {
      const source = { ...part.source(), port: udpLink.port };
      return await scanUdp({
        ...deps, link: udpLink, source, hosts, questions: udpRequests(deps.udpPorts, source, deps.random),
        onPort: (host, port) => report.port(host, "udp", port),
      });
    } finally {
      udpLink.close();
    }
  };
  return {
    async scan(part, hosts) {
      if (hosts.length === 0) return;
      const [tcp, udp] = await Promise.all([scanOf(part).scan(hosts, deps.tcpPorts), scanUdpOf(part, hosts)]);
      hosts.forEach((host, index) => report.counts(host, { tcp: tcp[index] ?? noCounts(), udp: udp[index] ?? noCounts() }));
    },
    progressOf: (part) => scans.get(part)?.progress ?? 0,
  };
}
