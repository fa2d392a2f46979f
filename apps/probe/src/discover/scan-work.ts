import { formatIp, formatMac, parseIp, parseMac } from "@lanthorn/packets";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { ipv4Bytes, ipv4Number } from "../observe/address-prefix.ts";
import { type Link, ownAddressFor } from "../observe/link.ts";
import { scanByConnecting } from "../scan/connect-scan.ts";
import type { ServiceFinding } from "../identify/finding.ts";
import type { OpenPort } from "../identify/identify.ts";
import { createIdentification, type IdentifyService, type PortFinding } from "../scan/identification.ts";
import type { HostTarget } from "../scan/question-frames.ts";
import type { ScanLink } from "../scan/scan-link.ts";
import { openScanRun, type ScanRun } from "../scan/scan-run.ts";
import { createDeepening, type DeepLook } from "./deepening.ts";
import type { Exclusions } from "./exclusions.ts";
import type { QuestionSender } from "./question-sender.ts";
import type { ScanPlan } from "./scan-plan.ts";
import { startSweep, type Sweep } from "./sweeper.ts";

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

/** Whom a scan tells what it finds. */
export interface ScanReport {
  /** @param mac Empty where it was not seen. */
  host(ip: number, mac: string): void;
  /** An open port, and again when it is known what it is. */
  port(openPort: OpenPort, finding: PortFinding | null): void;
  /** What is believed of a host beside its ports. */
  facts(ip: string, verdicts: ServiceFinding["verdicts"]): void;
  /** Something that would look like many hosts or ports and is none, or a part of the scan that was not done. */
  phantom(code: string, message: string): void;
}

export interface ScanWorkDeps {
  readonly link: () => Link | null;
  /** Null where no frames of one's own can be sent, as where a capture file stands in for the interface. */
  readonly openScanLink: ((excluded: () => Exclusions) => ScanLink) | null;
  /** Null where open ports are not asked what they are. */
  readonly identify: IdentifyService | null;
  /** Null where there is no profile `deep`, as with a capture file. */
  readonly deepLook: DeepLook | null;
  /** The paced way out, for searches that are to be gentle. */
  readonly sender: QuestionSender;
  readonly exclusions: () => Exclusions;
  readonly framesPerSecond: number;
  /** Addresses where hosts are known to be. */
  readonly online: () => ReadonlySet<number>;
  /** Empty where none was seen. */
  readonly macAt: (address: string) => string;
  /** Questions went out: each may bring a host. */
  readonly onSent: (count: number) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

const PASSES = 3;
/** What our own part of a `deep` scan is of the whole. */
const OWN_SHARE_OF_DEEP = 0.2;

/** Begins a scan: by frames of its own and at full speed where it can and may, else by the paced sweeper and connections. */
export function startScanWork(deps: ScanWorkDeps, plan: ScanPlan, report: ScanReport): ScanWork {
  const stop = new AbortController();
  const { signal } = stop;
  const up = new Map<number, string>();
  const deepening = !plan.isDeep || !deps.deepLook ? null : createDeepening({
    look: deps.deepLook, isGentle: plan.isGentle, exclusions: deps.exclusions, signal, onPort: report.port,
    onFindings: ({ ip, verdicts }) => report.facts(ip, verdicts),
    onFault(reason) {
      deps.log.warn({ reason }, "a part of a deep scan was not done");
      report.phantom("deep-scan-incomplete", `nmap did not look at some of the hosts: ${reason}`);
    },
  });
  const identification = createIdentification({
    identify: plan.hasBanners ? deps.identify : null, signal,
    onFinding(openPort, finding) {
      deepening?.noteFinding(openPort, finding);
      report.port(openPort, finding);
    },
  });
  let pass = 0;
  let asked = 0;
  const raw = openRaw();
  const sweep = raw && !plan.isGentle ? null : startPacedSweep();

  function noteHost(ip: number, mac: string): void {
    if (up.has(ip)) return;
    up.set(ip, mac);
    report.host(ip, mac);
  }
  function noteOpen(openPort: OpenPort): void {
    report.port(openPort, null);
    deepening?.noteOpen(openPort);
    // Excluded since it answered: connections do not pass the sender's wall.
    if (!deps.exclusions().holds(parseIp(openPort.ip) ?? new Uint8Array(4))) identification.add(openPort);
  }
  function openRaw(): ScanRun | null {
    const link = deps.link();
    if (!deps.openScanLink || !link || (plan.isGentle && plan.tcpPorts.length === 0)) return null;
    const { openScanLink } = deps;
    try {
      return openScanRun({
        ...deps, signal, mac: link.mac, tcpPorts: plan.tcpPorts, udpPorts: plan.udpPorts, expected: deps.online(),
        openLink: () => openScanLink(deps.exclusions),
        ranges: plan.ranges.flatMap(({ first, count }) => {
          const own = ownAddressFor(link, ipv4Bytes(first));
          return own ? [{ first, count, ownIp: ipv4Number(own) }] : [];
        }),
        onHost({ ip, mac }) {
          deps.onSent(1);
          noteHost(ip, formatMac(mac));
        },
        onPort: ({ ip }, protocol, port) => noteOpen({ ip: formatIp(ipv4Bytes(ip)), protocol, port }),
        onProxy(mac, addresses) {
          report.phantom("proxy-arp", `${formatMac(mac)} answers for ${addresses} addresses: a router with proxy ARP; they are not told as hosts`);
        },
        onPhantom({ ip }) {
          const address = formatIp(ipv4Bytes(ip));
          report.phantom("answers-everything", `${address} answers on every port: a firewall or a tarpit; its ports are not told`);
        },
      });
    } catch (error) {
      deps.log.warn({ reason: describeError(error) }, "scanning without frames of its own");
      return null;
    }
  }
  function startPacedSweep(): Sweep {
    const counting: QuestionSender = {
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
  async function scanFoundPorts(): Promise<void> {
    if (plan.tcpPorts.length === 0) return;
    const addresses = [...up.keys()];
    const targets = addresses.flatMap((ip): HostTarget[] => {
      const mac = parseMac(deps.macAt(formatIp(ipv4Bytes(ip))));
      return mac ? [{ ip, mac }] : [];
    });
    if (raw) return raw.scanHosts(targets);
    await scanByConnecting({
      hosts: addresses.map((ip) => formatIp(ipv4Bytes(ip))), ports: plan.tcpPorts, excluded: deps.exclusions, signal,
      onPort: (ip, port) => noteOpen({ ip, protocol: "tcp", port }),
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
        await scanFoundPorts();
      } else await raw?.run();
      if (deepening) {
        // It takes minutes anyway: who answers late is looked at too.
        if (raw && !sweep) await raw.runLate();
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
      if (outcome === "completed" && raw && !sweep && !deepening) await raw.runLate();
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
      const ip = ipv4Number(address);
      // A raw search hears for itself, and takes nobody for up whom it could not reach.
      if (sweep) noteHost(ip, "");
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
