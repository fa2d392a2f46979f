import type { Clock } from "@lanthorn/runtime";
import { ipv4Number } from "@lanthorn/packets";
import { findGateway, type Way } from "./find-gateway.ts";
import { bytesOf, type RoutedAddresses } from "../probing/routed-addresses.ts";
import type { ScanLink } from "../probing/scan-link.ts";

/** What a poll of addresses behind a router has shown. */
export interface RoutedPoll {
  /** Addresses of hosts, four or sixteen bytes. */
  readonly answered: readonly Uint8Array[];
  /** For how many addresses something answers that cannot be hosts; 0 for none. */
  readonly madeUp: number;
  /** Whether the router itself was there; without it nobody behind it was polled. */
  readonly isRouterThere: boolean;
}

/** Where nearly all of a network answers, the addresses of no host at its two ends too, one device answers for it. */
const MADE_UP = { fewest: 32, share: 0.97 } as const;

/**
 * Polls addresses behind a router once, as a scan does, through frames of its own.
 * @param deps.findWay Throws where there is no way there.
 * @param deps.own Our own addresses, both families.
 * @throws PacketIoError, what `findWay` throws, and the signal's reason.
 */
export async function pollBehindRouter(deps: {
  readonly addresses: RoutedAddresses;
  readonly openLink: () => ScanLink;
  readonly findWay: () => Promise<Way>;
  readonly mac: Uint8Array;
  readonly own: readonly Uint8Array[];
  readonly framesPerSecond: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
}): Promise<RoutedPoll> {
  const { addresses } = deps;
  const way = await deps.findWay();
  const link = deps.openLink();
  try {
    const gatewayMac = way.gatewayMac ?? (await findGateway({ ...deps, link }, way));
    if (!gatewayMac) return { answered: [], madeUp: 0, isRouterThere: false };
    const ends = addresses.size === 4 ? { ip: ipv4Number(way.source) } : { ip: 0, address6: way.source };
    const answered: Uint8Array[] = [];
    let firewalled = 0;
    // With it come the packets of UDP protocols, which a quiet daemon has not loaded.
    const { createRoutedSearch } = await import("./find-routed.ts");
    const search = createRoutedSearch({
      ...deps, link, gatewayMac, isRepeated: false, source: { mac: deps.mac, port: link.port, ...ends },
      onFound: (host) => void answered.push(bytesOf(host)),
      onFirewall: (count) => void (firewalled = count),
    });
    await search.find();
    await search.findLate();
    const isThere = (place: number) => answered.some((bytes) => addresses.placeOf(bytes, 0, bytes.length) === place);
    const isMost = addresses.isWhole && answered.length >= Math.max(MADE_UP.fewest, addresses.count * MADE_UP.share);
    const isMadeUp = isMost && isThere(0) && isThere(addresses.count - 1);
    return isMadeUp
      ? { answered: [], madeUp: answered.length, isRouterThere: true }
      : { answered, madeUp: firewalled, isRouterThere: true };
  } finally {
    link.close();
  }
}
