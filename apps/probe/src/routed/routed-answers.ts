import type { Clock } from "@lanthorn/runtime";
import { readHostSign } from "../probing/frames/host-signs.ts";
import type { HostTarget, TcpSegment } from "../probing/frames/packet.ts";
import type { RoutedAddresses } from "../probing/routed-addresses.ts";
import type { ScanLink } from "../probing/scan-link.ts";
import type { ScanRate } from "../probing/scan-rate.ts";

/** Who has answered behind a router. */
export interface RoutedAnswers {
  /** Reads a frame where the kernel wrote it. */
  take(bytes: Uint8Array, offset: number, length: number): void;
  hasAnswered(place: number): boolean;
  /** How many have answered, by whatever. */
  readonly found: number;
  /** When one that is news came last; monotonic. */
  readonly heardAt: number;
  /** Reports those that answered by TCP alone, unless a firewall does so for everybody. */
  judge(): void;
}

/**
 * Where a firewall answers for a network, all of it answers by TCP, also where nobody is. Fewer say nothing; hosts that answer by ICMP are
 * believed.
 */
const FIREWALL = { fewest: 32, share: 0.9 } as const;

/**
 * @param deps.hostAt The host at a place of `addresses`.
 * @param deps.onHalfOpen A connection is half open, and has to be reset.
 * @param deps.onFirewall Something answers for so many addresses that it cannot be hosts; those are not reported.
 */
export function createRoutedAnswers(deps: {
  readonly link: ScanLink;
  readonly addresses: RoutedAddresses;
  readonly clock: Pick<Clock, "monotonic">;
  readonly rate: Pick<ScanRate, "answered">;
  readonly hostAt: (place: number) => HostTarget;
  readonly onFound: (host: HostTarget) => void;
  readonly onHalfOpen: (host: HostTarget, segment: Pick<TcpSegment, "port" | "sequence">) => void;
  readonly onFirewall: (addresses: number) => void;
}): RoutedAnswers {
  const { link, addresses, clock } = deps;
  const total = addresses.count;
  const seen = new Uint8Array(total);
  /** Answered by TCP alone: reported when it is known that no firewall does so for all. */
  const held = new Set<number>();
  let heardAt = 0;
  let found = 0;
  let isFirewalled = false;

  const report = (place: number) => {
    const host = deps.hostAt(place);
    deps.onFound(host.address6 ? { ...host, ip: link.book.numberFor(host.address6) } : host);
  };
  return {
    take: (bytes, offset, length) => readHostSign({ bytes, offset, length }, link, ({ at, size, kind, halfOpen }) => {
      const place = addresses.placeOf(bytes, at, size);
      if (place < 0) return;
      if (halfOpen) deps.onHalfOpen(deps.hostAt(place), halfOpen);
      if (seen[place] === 1 && (kind === "tcp" || !held.has(place))) return;
      heardAt = clock.monotonic();
      if (seen[place] === 0) {
        found += 1;
        deps.rate.answered();
      }
      seen[place] = 1;
      if (kind !== "tcp") {
        held.delete(place);
        report(place);
      } else held.add(place);
    }),
    hasAnswered: (place) => seen[place] === 1,
    get found() {
      return found;
    },
    get heardAt() {
      return heardAt;
    },
    judge() {
      const silent = total - found;
      const isAll = addresses.isWhole && held.size >= FIREWALL.fewest && held.size >= (held.size + silent) * FIREWALL.share;
      if (isAll && !isFirewalled) deps.onFirewall(held.size);
      isFirewalled ||= isAll;
      if (isFirewalled) return;
      for (const place of held) report(place);
      held.clear();
    },
  };
}
