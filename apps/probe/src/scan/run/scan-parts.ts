import type { Clock } from "@lanthorn/runtime";
import { ipv4Number } from "@lanthorn/packets";
import type { AnswerClaims } from "../../search/answer-claims.ts";
import { createNeighborSearch, type HostSearch } from "../../search/find-neighbors.ts";
import type { NeighborRange } from "../../search/neighbor-places.ts";
import { createNeighborSearch6, type Neighbors6 } from "../../search/find-neighbors-ipv6.ts";
import { findGateway, type Way } from "../../routed/find-gateway.ts";
import type { PacketSource, HostTarget } from "../../probing/frames/packet.ts";
import { addressesInRange, type RoutedRange } from "../../probing/routed-addresses.ts";
import type { ScanLink } from "../../probing/scan-link.ts";

/** Addresses behind a router. */
export interface RoutedTarget extends RoutedRange {
  /** @throws Where there is no way there. */
  readonly findWay: () => Promise<Way>;
}

/** A part of a scan's target: how its hosts are found, and from where their ports are asked. */
export interface ScanPart {
  readonly search: HostSearch;
  holds(host: HostTarget): boolean;
  /** Known once the search has ended. */
  source(): PacketSource;
  /** How long a port's answer may take, where that is longer than on the own link. */
  readonly quietMs?: number;
}

/** What every way of finding hosts needs. `mac` is our own; `expected` has addresses as the scan's address book numbers them. */
export interface ScanPartDeps {
  readonly link: ScanLink;
  readonly mac: Uint8Array;
  /** Never more. */
  readonly framesPerSecond: number;
  /** Addresses where somebody was lately: they are waited for. */
  readonly expected: ReadonlySet<number>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onFound: (host: HostTarget) => void;
  /** As of `NeighborSearchDeps`. */
  readonly claims?: AnswerClaims;
}

/** A line to another place may take so long, on top of what a host needs. */
const ROUTED_QUIET_MS = 800;

/** IPv4 addresses of own subnets, by ARP. */
export function neighborPart(deps: ScanPartDeps, range: NeighborRange): ScanPart {
  return {
    search: createNeighborSearch({ ...deps, ranges: [range] }),
    holds: ({ ip }) => ip >= range.first && ip < range.first + range.count,
    source: () => ({ mac: deps.mac, ip: range.ownIp, port: deps.link.port }),
  };
}

/** IPv6 addresses of the own link. */
export function neighborPart6(deps: ScanPartDeps, neighbors: Neighbors6): ScanPart {
  const [address6] = neighbors.sources;
  return {
    search: createNeighborSearch6({ ...deps, ...neighbors }),
    holds: (host) => host.address6 !== undefined,
    source: () => ({ mac: deps.mac, ip: 0, port: deps.link.port, ...(address6 ? { address6 } : {}) }),
  };
}

/** Addresses of either family behind a router. @param options.own Our own addresses, to ask for the router from. */
export function routedPart(
  deps: ScanPartDeps & { readonly own: readonly Uint8Array[]; readonly onFirewall: (addresses: number) => void },
  target: RoutedTarget,
): ScanPart {
  let search: HostSearch | null = null;
  let source: PacketSource = { mac: deps.mac, ip: 0, port: deps.link.port };
  const size = target.first.length;
  const first = ipv4Number(target.first, size - 4);
  return {
    search: {
      async find() {
        const way = await target.findWay();
        source = size === 4 ? { ...source, ip: ipv4Number(way.source) } : { ...source, address6: way.source };
        const gatewayMac = way.gatewayMac ?? (await findGateway(deps, way));
        if (!gatewayMac) throw new Error("the router to it does not answer");
        // With it come the questions of UDP protocols, which a quiet daemon has not loaded.
        const { createRoutedSearch } = await import("../../routed/find-routed.ts");
        search = createRoutedSearch({ ...deps, source, gatewayMac, addresses: addressesInRange(target), isRepeated: true });
        await search.find();
      },
      findLate: async () => search?.findLate(),
      get progress() {
        return search?.progress ?? 0;
      },
    },
    holds: ({ ip, address6 }) => (size === 4 ? ip >= first && ip < first + target.count : address6 !== undefined),
    source: () => source,
    quietMs: ROUTED_QUIET_MS,
  };
}
