import { type AddressPrefix, formatPrefix, prefixHolds } from "@lanthorn/packets";
import type { Link } from "../capture/link.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import type { RoutedRange } from "../probing/routed-addresses.ts";
import { planTargets } from "../sweep/scan-targets.ts";

/** A network behind a router, without the parts of it that are on the own link. */
export interface RoutedNetwork {
  /** Its prefix. */
  readonly name: string;
  readonly ranges: readonly RoutedRange[];
  /** Monotonic milliseconds until which it is not polled. */
  pausedUntil: number;
}

/** A part of a network that is polled at once. */
export interface RoutedPart {
  readonly network: RoutedNetwork;
  readonly range: RoutedRange;
}

/** In which order networks behind routers are polled: in rounds, in parts. */
export interface RoutedPlan {
  /** Plans anew if the link is another one. @returns Whether it is. */
  update(link: Link): boolean;
  /** The name of the network that an address belongs to; null where it is in none that is watched. */
  networkOf(bytes: Uint8Array): string | null;
  /** Networks that may be polled now. */
  ready(now: number): readonly RoutedNetwork[];
  /** The next part of the round; a round begins when the one before began long enough ago. Null where nothing is due. */
  nextPart(now: number): RoutedPart | null;
  /** The network cannot be polled: it is left out for a minute. */
  pause(network: RoutedNetwork, now: number): void;
  /** The next round begins now; one in progress goes on. */
  roundNow(): void;
}

/** A firewall answers for a network of this size; smaller parts where the rate is low, so that who is missed need not wait for minutes. */
const MAX_IN_PART = 256;
const MIN_IN_PART = 64;
const PART_SECONDS = 30;
/** Frames to a host that does not answer. */
const FRAMES_OF_SILENT = 11;
/** After a network could not be polled: no way there, or the sender failed. */
const PAUSE_MS = 60_000;

/** @param deps.onFault Says once in a while that a network is not polled, and why. */
export function createRoutedPlan(deps: {
  readonly prefixes: readonly AddressPrefix[];
  readonly policy: Pick<EgressPolicy, "sweepIntervalMs" | "packetsPerSecond">;
  readonly onFault: (code: string, message: string) => void;
}): RoutedPlan {
  const { prefixes, policy } = deps;
  let networks: readonly RoutedNetwork[] = [];
  let plannedFor: string | null = null;
  let parts: RoutedPart[] = [];
  let roundBeganAt = Number.NEGATIVE_INFINITY;

  function partsOf(network: RoutedNetwork): readonly RoutedPart[] {
    const fitting = (policy.packetsPerSecond / 2) * (PART_SECONDS / FRAMES_OF_SILENT);
    const size = Math.min(Math.max(2 ** Math.floor(Math.log2(Math.max(1, fitting))), MIN_IN_PART), MAX_IN_PART);
    return network.ranges.flatMap((range) => splitRange(range, size)).map((range) => ({ network, range }));
  }

  const ready = (now: number) => networks.filter(({ pausedUntil }) => now >= pausedUntil);

  return {
    update(link) {
      if (link.fingerprint === plannedFor) return false;
      plannedFor = link.fingerprint;
      parts = [];
      roundBeganAt = Number.NEGATIVE_INFINITY;
      networks = prefixes.flatMap((prefix) => {
        const targets = planTargets(link, prefix);
        const ranges = "refused" in targets ? [] : targets.routed;
        const reason = "refused" in targets ? targets.refused : "it is part of this interface's own subnets";
        if (ranges.length === 0) deps.onFault("network-not-watched", `sweep.routed: ${formatPrefix(prefix)} is not polled: ${reason}`);
        return ranges.length === 0 ? [] : [{ name: formatPrefix(prefix), ranges, pausedUntil: Number.NEGATIVE_INFINITY }];
      });
      return true;
    },
    networkOf(bytes) {
      const prefix = prefixes.find((one) => prefixHolds(one, bytes, 0, bytes.length));
      return prefix ? formatPrefix(prefix) : null;
    },
    ready,
    nextPart(now) {
      if (parts.length === 0 && now - roundBeganAt >= policy.sweepIntervalMs) {
        roundBeganAt = now;
        parts = ready(now).flatMap(partsOf);
      }
      return parts.shift() ?? null;
    },
    pause(network, now) {
      network.pausedUntil = now + PAUSE_MS;
      parts = parts.filter((part) => part.network !== network);
    },
    roundNow() {
      roundBeganAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** In parts that begin at multiples of their size. */
function splitRange({ first, count }: RoutedRange, size: number): readonly RoutedRange[] {
  const lowest = first.length - 4;
  const start = new DataView(first.buffer, first.byteOffset).getUint32(lowest);
  const begins = Math.floor(start / size);
  return Array.from({ length: Math.floor((start + count - 1) / size) - begins + 1 }, (_, index) => {
    const from = Math.max(start, (begins + index) * size);
    const bytes = first.slice();
    new DataView(bytes.buffer).setUint32(lowest, from);
    return { first: bytes, count: Math.min(start + count, (begins + index + 1) * size) - from };
  });
}
