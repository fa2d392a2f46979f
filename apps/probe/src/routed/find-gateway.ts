import type { Clock } from "@lanthorn/runtime";
import { ipv4Number } from "@lanthorn/packets";
import { createNeighborSearch } from "../search/find-neighbors.ts";
import { createNeighborSearch6 } from "../search/find-neighbors-ipv6.ts";
import type { HostTarget } from "../probing/frames/packet.ts";
import type { ScanLink } from "../probing/scan-link.ts";

/** How packets leave for a network that is not on the own link. */
export interface Way {
  /** Our own address that they come from, of the network's family. */
  readonly source: Uint8Array;
  /** Of either family. */
  readonly gateway: Uint8Array;
  /** Null where it has not been seen yet: it is asked for. */
  readonly gatewayMac: Uint8Array | null;
}

/**
 * Asks for the router's MAC, as for any neighbor's.
 * @param deps.own Our own addresses, to ask from.
 * @returns Null where it does not answer.
 */
export async function findGateway(
  deps: {
    readonly link: ScanLink;
    readonly mac: Uint8Array;
    readonly own: readonly Uint8Array[];
    readonly framesPerSecond: number;
    readonly clock: Clock;
    readonly random: () => number;
    readonly signal: AbortSignal;
  },
  { gateway }: Pick<Way, "gateway">,
): Promise<Uint8Array | null> {
  const found: HostTarget[] = [];
  const onFound = (host: HostTarget) => void found.push(host);
  const own = deps.own.filter(({ length }) => length === gateway.length);
  if (gateway.length === 4) {
    const ip = ipv4Number(gateway);
    const ownIp = own[0] ? ipv4Number(own[0]) : 0;
    await createNeighborSearch({ ...deps, onFound, ranges: [{ first: ip, count: 1, ownIp }], expected: new Set([ip]) }).find();
  } else if (own.length > 0) {
    await createNeighborSearch6({ ...deps, onFound, prefix: { bytes: gateway, length: 128 }, sources: own, observed: [] }).find();
  }
  return found[0]?.mac ?? null;
}
