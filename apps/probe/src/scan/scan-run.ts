import type { Clock } from "@lanthorn/runtime";
import { createCrowd } from "./crowd.ts";
import { createNeighbourSearch, type NeighbourRange } from "./find-neighbours.ts";
import type { HostTarget } from "./question-frames.ts";
import type { ScanLink } from "./scan-link.ts";
import { createPortScan } from "./scan-ports.ts";
import { scanUdp } from "./scan-udp.ts";

/** What is to be found out, and whom it is told. */
export interface ScanRunDeps {
  readonly openLink: () => ScanLink;
  /** Our own MAC, six bytes. */
  readonly mac: Uint8Array;
  readonly ranges: readonly NeighbourRange[];
  readonly tcpPorts: readonly number[];
  readonly udpPorts: readonly number[];
  /** Never more. */
  readonly framesPerSecond: number;
  /** Addresses where somebody was lately: they are waited for. */
  readonly expected: ReadonlySet<number>;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Each host once. */
  readonly onHost: (host: HostTarget) => void;
  /** Each open port once. */
  readonly onPort: (host: HostTarget, protocol: "tcp" | "udp", port: number) => void;
  /** A host that answers on every port; no port of it is told. */
  readonly onPhantom: (host: HostTarget) => void;
  /** A MAC that answers for more addresses than a host has; but for the first few, they are not told. */
  readonly onProxy: (mac: Uint8Array, addresses: number) => void;
}

/** One scan, through frames of its own. */
export interface ScanRun {
  /** Finds who is there, then what is open. @throws PacketIoError, and the signal's reason. */
  run(): Promise<void>;
  /** Instead, where the hosts are known: only what is open. @throws As `run`. */
  scanHosts(hosts: readonly HostTarget[]): Promise<void>;
  /** Afterwards: takes late answers, and looks at the ports of who gave them. @throws As `run`. */
  runLate(): Promise<void>;
  readonly sent: number;
  /** 0 to 1. */
  readonly progress: number;
  close(): void;
}

/** What finding hosts is of the whole, where ports are asked too. */
const SEARCH_SHARE = 0.1;

/** @throws PacketIoError as `openLink` does. */
export function openScanRun(deps: ScanRunDeps): ScanRun {
  const link = deps.openLink();
  let hosts: HostTarget[] = [];
  const take = (host: HostTarget) => {
    hosts.push(host);
    deps.onHost(host);
  };
  const crowd = createCrowd({ take, onProxy: deps.onProxy });
  const search = createNeighbourSearch({ ...deps, link, onFound: (host) => crowd.add(host) });
  const scans = deps.ranges.map((range) => ({
    range,
    ports: createPortScan({
      ...deps, link, asker: { mac: deps.mac, ip: range.ownIp, port: link.port }, onPort: (host, port) => deps.onPort(host, "tcp", port),
    }),
  }));
  /** By a link of its own, so that it takes its time beside TCP and not after it. */
  const lookAtUdp = async (range: NeighbourRange, some: readonly HostTarget[]) => {
    if (deps.udpPorts.length === 0) return;
    // The protocols' questions are part of naming services, which a quiet daemon has not loaded.
    const { udpQuestions } = await import("./udp-questions.ts");
    const udpLink = deps.openLink();
    try {
      await scanUdp({
        ...deps, link: udpLink, asker: { mac: deps.mac, ip: range.ownIp, port: udpLink.port }, hosts: some,
        questions: udpQuestions(deps.udpPorts, deps.random), onPort: (host, port) => deps.onPort(host, "udp", port),
      });
    } finally {
      udpLink.close();
    }
  };
  const lookAtPorts = async () => {
    const some = hosts;
    hosts = [];
    if (deps.tcpPorts.length === 0) return;
    for (const { range, ports } of scans) {
      const here = some.filter(({ ip }) => ip >= range.first && ip < range.first + range.count);
      if (here.length > 0) await Promise.all([ports.scan(here, deps.tcpPorts), lookAtUdp(range, here)]);
    }
  };
  return {
    async run() {
      await search.find();
      crowd.settle();
      await lookAtPorts();
    },
    async scanHosts(known) {
      hosts = [...known];
      await lookAtPorts();
    },
    async runLate() {
      await search.findLate();
      crowd.settle();
      await lookAtPorts();
    },
    get sent() {
      return link.sender.counters().sent;
    },
    get progress() {
      if (deps.tcpPorts.length === 0) return search.progress;
      const done = scans.reduce((sum, { ports }) => sum + ports.progress, 0) / scans.length;
      return search.progress * SEARCH_SHARE + done * (1 - SEARCH_SHARE);
    },
    close: () => link.close(),
  };
}
