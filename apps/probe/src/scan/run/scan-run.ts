import { ipv4Bytes } from "@lanthorn/packets";
import type { Exclusions } from "../../egress/exclusions.ts";
import { createProxyArpFilter } from "./proxy-arp-filter.ts";
import type { NeighborRange } from "../../search/neighbor-places.ts";
import type { Neighbors6 } from "../../search/find-neighbors-ipv6.ts";
import type { HostTarget } from "../../probing/frames/packet.ts";
import type { ScanLink } from "../../probing/scan-link.ts";
import { neighborPart, neighborPart6, routedPart, type RoutedTarget, type ScanPart, type ScanPartDeps } from "./scan-parts.ts";
import { createPartPorts } from "./part-ports.ts";
import type { RunReport } from "../scan-report.ts";
import { checkLiveness } from "./liveness-check.ts";
import type { AddressBook } from "../../probing/address-book.ts";

/** What to find out, and where to report it. */
export interface ScanRunDeps extends Omit<ScanPartDeps, "link" | "onFound"> {
  /** @param book Another link's numbers of IPv6 addresses. */
  readonly openLink: (book?: AddressBook) => ScanLink;
  /** These are not reported: an excluded host is heard when somebody else asks for it. */
  readonly exclusions: () => Exclusions;
  /** Our own addresses, both families. */
  readonly own: readonly Uint8Array[];
  readonly ranges: readonly NeighborRange[];
  /** Whether hosts of the ranges are looked for here, and not by somebody slower. */
  readonly searchesRanges: boolean;
  /** Never more while hosts are looked for. */
  readonly searchFramesPerSecond: number;
  readonly neighbors6: readonly Neighbors6[];
  readonly routed: readonly RoutedTarget[];
  readonly tcpPorts: readonly number[];
  readonly udpPorts: readonly number[];
  readonly report: RunReport;
}

/** One scan, through frames of its own. */
export interface ScanRun {
  /**
   * Finds who is there, then what is open.
   * @param known Hosts that are known to be there.
   * @throws PacketIoError, and the signal's reason.
   */
  run(known: readonly HostTarget[]): Promise<void>;
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
  const { report } = deps;
  let hosts: HostTarget[] = [];
  const takeAs = (isRouted: boolean) => (host: HostTarget) => {
    // Of a /16 without ports they would be kept for nothing.
    if (deps.tcpPorts.length > 0) hosts.push(host);
    report.host(host, isRouted);
  };
  const partOf = (host: HostTarget) => parts.find((part) => part.holds(host));
  const proxyArpFilter = createProxyArpFilter({
    take: takeAs(false), random: deps.random, onProxy: (proxy) => report.proxy(proxy),
    async areThere(some) {
      const source = some[0] && partOf(some[0])?.source();
      return source ? checkLiveness(some, { ...deps, link, source }) : new Set();
    },
  });
  const framesPerSecond = Math.min(deps.framesPerSecond, deps.searchFramesPerSecond);
  const unlessExcluded = (take: (host: HostTarget) => void) => (host: HostTarget) => {
    const { prefixes, holds } = deps.exclusions();
    if (prefixes.length === 0 || !holds(host.address6 ?? ipv4Bytes(host.ip))) take(host);
  };
  const near = { ...deps, framesPerSecond, link, onFound: unlessExcluded(proxyArpFilter.add) };
  const far = { ...deps, framesPerSecond, link, onFound: unlessExcluded(takeAs(true)), onFirewall: (addresses: number) => report.firewall(addresses) };
  const ranges = deps.ranges.map((range) => neighborPart(near, range));
  const others = [...deps.neighbors6.map((one) => neighborPart6(near, one)), ...deps.routed.map((target) => routedPart(far, target))];
  const parts: readonly ScanPart[] = [...ranges, ...others];
  const searched = deps.searchesRanges ? parts : others;
  const ports = createPartPorts({ ...deps, link });
  const lookAtPorts = async () => {
    const some = hosts;
    hosts = [];
    if (deps.tcpPorts.length === 0) return;
    for (const part of parts) await ports.scan(part, some.filter((host) => partOf(host) === part));
  };
  return {
    async run(known) {
      hosts.push(...known);
      for (const { search } of searched) await search.find();
      await proxyArpFilter.settle();
      await lookAtPorts();
    },
    async runLate() {
      for (const { search } of searched) await search.findLate();
      await proxyArpFilter.settle();
      await lookAtPorts();
    },
    get sent() {
      return link.sender.counters().sent;
    },
    get progress() {
      const share = (some: readonly ScanPart[], of: (part: ScanPart) => number) =>
        some.reduce((sum, part) => sum + of(part), 0) / Math.max(1, some.length);
      const found = share(searched, ({ search }) => search.progress);
      if (deps.tcpPorts.length === 0) return found;
      return found * SEARCH_SHARE + share(parts, (part) => ports.progressOf(part)) * (1 - SEARCH_SHARE);
    },
    close: () => link.close(),
  };
}
