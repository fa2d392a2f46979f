import type { PortCounts, ScanRemarkCode } from "@lanthorn/contract/uplink";
import { formatIp, formatMac, ipv4Bytes, ipv4Number, parseIp, parseMac } from "@lanthorn/packets";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { type Link, ownAddressFor } from "../capture/link.ts";
import { findByConnecting, scanByConnecting, withZone } from "./ports/connect-scan.ts";
import type { PortFinding, ServiceFinding } from "../identify/finding.ts";
import type { OpenPort } from "../identify/identify.ts";
import { createIdentification, type IdentifyService } from "./identification.ts";
import { hostAddress, type HostTarget } from "../probing/frames/question.ts";
import type { OpenScanLink } from "../probing/scan-link.ts";
import type { RoutedRange } from "../probing/routed-addresses.ts";
import { openScanRun, type ScanRun } from "./scan-run.ts";
import { createDeepening, type DeepLook } from "../nmap/nmap-stage.ts";
import type { Exclusions } from "../egress/exclusions.ts";
import { findWay, type WayDeps } from "../routed/find-way.ts";
import type { FrameSender } from "../egress/frame-sender.ts";
import type { ScanPlan } from "./scan-plan.ts";
import { startSweep, type Sweep } from "../sweep/sweeper.ts";

/** What a scan does between its first event and its last. */
export interface ScanWork {
  /** An IPv4 neighbour spoke. */
  noteAnswer(address: Uint8Array): void;
  /** Ends everything, late answers too. */
  abort(reason: string): void;
  /** 0 to 1. */
  readonly progress: number;
  readonly done: Promise<{ readonly outcome: "completed" | "aborted"; readonly reasons: readonly string[]; readonly packetsSent: number }>;
  /** After `done`: late answers are still taken until it resolves. */
  readonly lateDone: Promise<void>;
}

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

/** Whom a scan tells what it finds. */
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

export interface ScanWorkDeps extends WayDeps {
  readonly link: () => Link | null;
  /** The interface's name: link-local addresses are reached by it. */
  readonly interfaceName: string;
  /** Null where no frames of one's own can be sent, as where a capture file stands in for the interface. */
  readonly openScanLink: OpenScanLink | null;
  /** Null where open ports are not asked what they are. */
  readonly identify: IdentifyService | null;
  /** UDP ports at which the vault has a credential for an address: who is silent to strangers is asked there too. None unless given. */
  readonly vaultPorts?: (ip: string) => readonly number[];
  /** Null where there is no profile `deep`, as with a capture file. */
  readonly deepLook: DeepLook | null;
  /** The paced way out, for searches that are to be gentle. */
  readonly sender: FrameSender;
  readonly exclusions: () => Exclusions;
  readonly framesPerSecond: number;
  /** Never more while hosts are looked for. */
  readonly searchFramesPerSecond: number;
  /** Addresses where hosts are known to be. */
  readonly online: () => ReadonlySet<number>;
  /** Questions went out: each may bring a host. */
  readonly onSent: (count: number) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** What the daemon brings for a scan's ways out. */
export type ScanWays = Pick<ScanWorkDeps, "interfaceName" | "openScanLink" | "routeTo" | "identify" | "vaultPorts" | "deepLook">;

const PASSES = 3;
/** What our own part of a `deep` scan is of the whole. */
const OWN_SHARE_OF_DEEP = 0.2;

/** Begins a scan: by frames of its own and at full speed where it can and may, else by the paced sweeper and connections. */
export function startScanWork(deps: ScanWorkDeps, plan: ScanPlan, report: ScanReport): ScanWork {
  const stop = new AbortController();
  const { signal } = stop;
  const up = new Set<string>();
  const openUdp = new Set<string>();
  const phantoms = new Set<string>();
  const routed = new Set<string>();
  const deepening = !plan.isDeep || !deps.deepLook ? null : createDeepening({
    look: deps.deepLook, isGentle: plan.isGentle, exclusions: deps.exclusions, signal, onPort: report.port,
    onFindings: ({ ip, verdicts }) => report.facts(ip, verdicts),
    onFault(reason) {
      deps.log.warn({ reason }, "a part of a deep scan was not done");
      report.fault("deep-scan-incomplete", `nmap did not look at some of the hosts: ${reason}`);
    },
  });
  const identification = createIdentification({
    identify: plan.hasBanners ? deps.identify : null, signal,
    onFinding(asked, finding) {
      const openPort = { ...asked, ip: asked.ip.replace(/%.*/, "") };
      deepening?.noteFinding(openPort, finding);
      report.port(openPort, finding);
    },
  });
  let pass = 0;
  let asked = 0;
  const raw = openRaw();
  const sweep = plan.ranges.length === 0 || (raw && !plan.isGentle) ? null : startPacedSweep();

  function noteHost(ip: string, mac: string, isRouted = false): void {
    if (up.has(ip)) return;
    up.add(ip);
    report.host({ ip, mac, isRouted });
  }
  function noteOpen(openPort: OpenPort): void {
    if (openPort.protocol === "udp") openUdp.add(`${openPort.ip} ${openPort.port}`);
    report.port(openPort, null);
    deepening?.noteOpen(openPort);
    askWhatItIs(openPort);
  }
  function askWhatItIs(openPort: OpenPort): void {
    // Excluded since it answered: connections do not pass the sender's wall.
    if (deps.exclusions().holds(parseIp(openPort.ip) ?? new Uint8Array(4))) return;
    identification.add({ ...openPort, ip: withZone(openPort.ip, deps.interfaceName) });
  }
  /** An agent that knows nobody but us is silent to a scan's questions. */
  function askSilentAgents(): void {
    for (const ip of up) {
      const ports = (deps.vaultPorts?.(ip) ?? []).filter((port) => plan.udpPorts.includes(port) && !openUdp.has(`${ip} ${port}`));
      for (const port of ports) askWhatItIs({ ip, protocol: "udp", port });
    }
  }
  function openRaw(): ScanRun | null {
    const link = deps.link();
    const isSweepOnly = plan.isGentle && plan.tcpPorts.length === 0 && plan.routed.length + plan.neighbours6.length === 0;
    if (!deps.openScanLink || !link || isSweepOnly) return null;
    const { openScanLink } = deps;
    try {
      return openScanRun({
        ...deps, signal, mac: link.mac, tcpPorts: plan.tcpPorts, udpPorts: plan.udpPorts, expected: deps.online(),
        own: link.own.map(({ bytes }) => bytes), searchesRanges: !plan.isGentle, neighbours6: plan.neighbours6,
        routed: plan.routed.map((range) => ({ ...range, findWay: () => findWay(range.first, deps) })),
        openLink: (book) => openScanLink(deps.exclusions, book),
        ranges: plan.ranges.flatMap(({ first, count }) => {
          const own = ownAddressFor(link, ipv4Bytes(first));
          return own ? [{ first, count, ownIp: ipv4Number(own) }] : [];
        }),
        onHost(host, isRouted) {
          deps.onSent(1);
          if (isRouted) routed.add(hostAddress(host));
          noteHost(hostAddress(host), isRouted ? "" : formatMac(host.mac), isRouted);
        },
        onPort: (host, protocol, port) => noteOpen({ ip: hostAddress(host), protocol, port }),
        onCounts(host, counts) {
          if (!phantoms.has(hostAddress(host))) report.counts(hostAddress(host), counts);
        },
        onProxy({ mac, addresses }) {
          const message =
            `${formatMac(mac)} answers for ${addresses} addresses: a router with proxy ARP; those at which nobody is are not told as hosts`;
          report.remark({ code: "proxy-arp", message, ip: "", mac: formatMac(mac), addresses });
        },
        onFirewall(addresses) {
          const message =
            `something answers TCP for ${addresses} addresses that answer nothing else: a firewall; they are not told as hosts`;
          report.remark({ code: "answers-for-network", message, ip: "", mac: "", addresses });
        },
        onPhantom(host, isTarpit) {
          const ip = hostAddress(host);
          phantoms.add(ip);
          const what = isTarpit ? "and takes no data: a tarpit" : "a firewall or a tarpit";
          const message = `${ip} answers on every port${isTarpit ? " " : ": "}${what}; its ports are not told`;
          report.remark({
            code: isTarpit ? "tarpit" : "answers-everything", message, ip, mac: routed.has(ip) ? "" : formatMac(host.mac), addresses: 1,
          });
        },
      });
    } catch (error) {
      deps.log.warn({ reason: describeError(error) }, "scanning without frames of its own");
      return null;
    }
  }
  function startPacedSweep(): Sweep {
    const counting: FrameSender = {
      send(frames, sendSignal) {
        pass += 1;
        asked = 0;
        function* counted() {
          for (const frame of frames) {
            asked += 1;
            yield frame;
          }
        }
        return deps.sender.send(counted(), sendSignal);
      },
    };
    return startSweep({ ...deps, sender: counting, ranges: plan.ranges, passes: PASSES, isSkipped: () => false, asksAllNodes: false });
  }
  /** Without frames of one's own: whom connections find, and what is open there. */
  async function runByConnecting(): Promise<void> {
    const connecting = { zone: deps.interfaceName, excluded: deps.exclusions, signal };
    const beyond = [
      ...plan.routed.flatMap(addressesOf), ...plan.neighbours6.flatMap(({ observed }) => observed.map((bytes) => formatIp(bytes))),
    ];
    if (beyond.length > 0) {
      await findByConnecting({ ...connecting, hosts: beyond, onHost: (ip) => noteHost(ip, deps.macAt(ip), plan.routed.length > 0) });
    }
    await scanByConnecting({
      ...connecting, hosts: [...up], ports: plan.tcpPorts, onPort: (ip, port) => noteOpen({ ip, protocol: "tcp", port }),
    });
  }
  function knownTargets(): readonly HostTarget[] {
    return [...up].flatMap((address): HostTarget[] => {
      const [bytes, mac] = [parseIp(address), parseMac(deps.macAt(address))];
      return bytes?.length === 4 && mac ? [{ ip: ipv4Number(bytes), mac }] : [];
    });
  }
  async function run(): ScanWork["done"] {
    let packetsSent = 0;
    // Nothing is told before whoever began it has it.
    await Promise.resolve();
    try {
      if (sweep) {
        const swept = await sweep.done;
        packetsSent += swept.packetsSent;
        if (swept.outcome === "aborted") return { outcome: "aborted", reasons: swept.reasons, packetsSent };
      }
      await (raw ? raw.run(sweep ? knownTargets() : []) : runByConnecting());
      askSilentAgents();
      if (deepening) {
        // It takes minutes anyway: who answers late is looked at too.
        await raw?.runLate();
        await identification.idle();
        await deepening.run();
      }
      await identification.idle();
      return { outcome: "completed", reasons: [], packetsSent: packetsSent + (raw?.sent ?? 0) };
    } catch (error) {
      return { outcome: "aborted", reasons: [describeError(error)], packetsSent: packetsSent + (raw?.sent ?? 0) };
    }
  }
  function ownProgress(): number {
    if (!sweep) return raw?.progress ?? 0;
    const searched = (pass - 1 + asked / Math.max(1, plan.hostsTotal - up.size)) / PASSES;
    return Math.max(0, Math.min(0.99, plan.tcpPorts.length === 0 ? searched : searched / 2 + (raw?.progress ?? 0) / 2));
  }
  const done = run();
  async function takeLate(): Promise<void> {
    try {
      const { outcome } = await done;
      if (outcome === "completed" && !deepening) await raw?.runLate();
      await identification.idle();
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ reason: describeError(error) }, "late answers of a scan were not waited for");
    } finally {
      raw?.close();
    }
  }
  return {
    done,
    lateDone: takeLate(),
    noteAnswer(address) {
      // A raw search hears for itself, and takes nobody for up whom it could not reach.
      if (sweep) noteHost(formatIp(address), "");
      sweep?.noteAnswer(address);
    },
    get progress() {
      return deepening ? ownProgress() * OWN_SHARE_OF_DEEP + deepening.progress * (1 - OWN_SHARE_OF_DEEP) : ownProgress();
    },
    abort(reason) {
      stop.abort(new Error(reason));
      sweep?.abort(reason);
    },
  };
}

function addressesOf({ first, count }: RoutedRange): readonly string[] {
  const number = ipv4Number(first, first.length - 4);
  return Array.from({ length: count }, (_, index) => {
    const address = first.slice();
    new DataView(address.buffer).setUint32(first.length - 4, number + index);
    return formatIp(address);
  });
}
