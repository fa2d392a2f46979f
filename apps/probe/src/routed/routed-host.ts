import type { HostState } from "@lanthorn/contract/uplink";
import { formatIp } from "@lanthorn/packets";
import type { HostFact } from "../hosts/facts.ts";
import { MAX_EVIDENCE, nameEvidence } from "../hosts/host.ts";
import { chooseName, type HostNames } from "../hosts/names.ts";
import { createWatch, type Watch } from "../hosts/presence.ts";

interface RoutedState {
  readonly presence: "online" | "offline";
  readonly hostname: string;
}

/** A host behind a router: no MAC of its is seen, so it is known by its address. Changed in place. */
export interface RoutedHost {
  readonly address: string;
  /** Four or sixteen bytes. */
  readonly bytes: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly foundAt: number;
  readonly watch: Watch;
  /** What DNS calls its address. */
  names: HostNames;
  /** Monotonic milliseconds when DNS is asked again. */
  reverseDueAt: number;
  reverseFailures: number;
  presence: "online" | "offline";
  lastSeenAt: number;
  /** Monotonic milliseconds when it was last polled. */
  polledAt: number;
  /** It did not answer the last time: it is asked again soon. */
  isDoubted: boolean;
  /** Since when its silence counts, monotonic; null while it answers. */
  missedFrom: number | null;
  /** Misses at the moment when it was given up. */
  missedChecks: number;
  /** It did not answer polls since the start, so `offline` is knowledge. */
  confirmedOffline: boolean;
  /** What was last published; null until its `host_found` is written. */
  published: RoutedState | null;
  /** Evidence since the last report. */
  unreported: boolean;
}

/** Who was found has answered one of four waves of packets, after which a miss means more than one unanswered ARP request. */
const ASSUMED_RATE = { asked: 12, answered: 12 } as const;
/** An answer that only the host itself can have given. */
const CONFIDENCE = 0.9;

/** A host that is online and was not published. @param options.rate How often it answered before, else that of a new one. */
export function createRoutedHost(options: {
  readonly bytes: Uint8Array;
  readonly foundAt: number;
  /** Monotonic milliseconds. */
  readonly silentFrom: number;
  readonly rate?: { readonly asked: number; readonly answered: number };
}): RoutedHost {
  const { bytes, foundAt, silentFrom, rate = ASSUMED_RATE } = options;
  return {
    address: formatIp(bytes), bytes, foundAt, watch: createWatch(silentFrom, rate), names: {}, reverseDueAt: 0, reverseFailures: 0,
    presence: "online", lastSeenAt: foundAt,
    polledAt: Number.NEGATIVE_INFINITY, isDoubted: false, missedFrom: null, missedChecks: 0,
    confirmedOffline: false, published: null, unreported: false,
  };
}

/** What is compared to know whether to publish an event. */
export function routedStateOf({ presence, names }: Pick<RoutedHost, "presence" | "names">): RoutedState {
  return { presence, hostname: chooseName(names) };
}

/** The whole state of a host behind a router, as the contract has it. @param at An instant. */
export function describeRoutedHost(
  { address: ip, names, foundAt }: Pick<RoutedHost, "address" | "names" | "foundAt">, facts: readonly HostFact[], at: string,
): HostState {
  const self = { field: "ip", value: ip, source: "scan", confidence: CONFIDENCE, seen_at: at } as const;
  return {
    ip, mac: "", hostname: chooseName(names), vendor: "", addresses: [ip],
    evidence: [self, ...nameEvidence({ names, vendor: "", foundAt }), ...facts].slice(0, MAX_EVIDENCE),
  };
}
