import { formatMac, parseIp } from "@lanthorn/packets";
import type { Exclusions } from "../egress/exclusions.ts";
import type { PortFinding } from "../identify/finding.ts";
import type { OpenPort } from "../identify/identify.ts";
import type { NmapStage } from "../nmap/nmap-stage.ts";
import { hostAddress } from "../probing/frames/packet.ts";
import { createIdentification, type Identification, type IdentifyService } from "./identification.ts";
import { withZone } from "./ports/connect-scan.ts";
import type { ScanPlan } from "./scan-plan.ts";
import { firewallRemark, phantomRemark, proxyRemark, type RunReport, type ScanReport } from "./scan-report.ts";

/** What a scan has found, whatever found it: each host once, and each open port with the question what it is. */
export interface ScanFindings {
  /** Where a run with frames of its own reports. */
  readonly run: RunReport;
  /** Addresses at which somebody is. */
  readonly up: ReadonlySet<string>;
  host(ip: string, mac: string, isRouted: boolean): void;
  open(openPort: OpenPort): void;
  /** An SNMP agent that knows nobody but us is silent to a scan's packets: it is asked with its credential. */
  askSilentAgents(): void;
  /** Resolves when all open ports were asked what they are. */
  identified(): Promise<void>;
}

/** @param deps.onSent A packet went out that may bring a host. @param deps.deepening Null where nmap does not look at the ports. */
export function createScanFindings(deps: {
  readonly plan: ScanPlan;
  readonly report: ScanReport;
  readonly identify: IdentifyService | null;
  readonly nmapStage: NmapStage | null;
  readonly exclusions: () => Exclusions;
  readonly interfaceName: string;
  readonly vaultPorts?: (ip: string) => readonly number[];
  readonly onSent: (count: number) => void;
  readonly signal: AbortSignal;
}): ScanFindings {
  const { plan, report, nmapStage } = deps;
  const up = new Set<string>();
  const openUdp = new Set<string>();
  const identification: Identification = createIdentification({
    identify: plan.hasBanners ? deps.identify : null, signal: deps.signal,
    onFinding(asked, finding: PortFinding) {
      const openPort = { ...asked, ip: asked.ip.replace(/%.*/, "") };
      nmapStage?.noteFinding(openPort, finding);
      report.port(openPort, finding);
    },
  });
  const host: ScanFindings["host"] = (ip, mac, isRouted) => {
    // Looked up once: a /16 brings 65,536 of them.
    const before = up.size;
    if (up.add(ip).size === before) return;
    report.host({ ip, mac, isRouted });
  };
  const askWhatItIs = (openPort: OpenPort) => {
    // Excluded since it answered: connections do not pass the frame sender's policy.
    if (deps.exclusions().holds(parseIp(openPort.ip) ?? new Uint8Array(4))) return;
    identification.add({ ...openPort, ip: withZone(openPort.ip, deps.interfaceName) });
  };
  const open = (openPort: OpenPort) => {
    if (openPort.protocol === "udp") openUdp.add(`${openPort.ip} ${openPort.port}`);
    report.port(openPort, null);
    nmapStage?.noteOpen(openPort);
    askWhatItIs(openPort);
  };
  return {
    up, host, open,
    run: createRunReport({ report, host, open, onSent: deps.onSent }),
    askSilentAgents() {
      // The vault takes microseconds an address, which a /16 waits for.
      if (plan.udpPorts.length === 0) return;
      for (const ip of up) {
        const ports = (deps.vaultPorts?.(ip) ?? []).filter((port) => plan.udpPorts.includes(port) && !openUdp.has(`${ip} ${port}`));
        for (const port of ports) askWhatItIs({ ip, protocol: "udp", port });
      }
    },
    identified: () => identification.idle(),
  };
}

/** Takes what a run with frames of its own finds, in addresses as text. */
function createRunReport({ report, host, open, onSent }: Pick<ScanFindings, "host" | "open"> & {
  readonly report: ScanReport;
  readonly onSent: (count: number) => void;
}): RunReport {
  const phantoms = new Set<string>();
  const routed = new Set<string>();
  return {
    host(target, isRouted) {
      onSent(1);
      if (isRouted) routed.add(hostAddress(target));
      host(hostAddress(target), isRouted ? "" : formatMac(target.mac), isRouted);
    },
    port: (target, protocol, port) => open({ ip: hostAddress(target), protocol, port }),
    counts(target, counts) {
      if (!phantoms.has(hostAddress(target))) report.counts(hostAddress(target), counts);
    },
    proxy: (proxy) => report.remark(proxyRemark(proxy)),
    firewall: (addresses) => report.remark(firewallRemark(addresses)),
    phantom(target, isTarpit) {
      const ip = hostAddress(target);
      phantoms.add(ip);
      report.remark(phantomRemark(ip, routed.has(ip) ? "" : formatMac(target.mac), isTarpit));
    },
  };
}
