import type { HostState } from "@lanthorn/contract/uplink";
import { deviceClaims, readAnswer, readMaker } from "@lanthorn/fingerprints";
import { formatMac, parseIp } from "@lanthorn/packets";
import { toInstant } from "@lanthorn/runtime";
import { factsText, type HostFact } from "./facts.ts";
import { chooseName, type HostNames, NAME_CONFIDENCE, NAME_SOURCES } from "./names.ts";
import { createWatch, type Watch } from "./presence.ts";

/** How an address or a host was seen; the word goes into the evidence. */
export type EvidenceSource = "arp" | "ndp" | "dhcp" | "traffic";

/** An address seen live on a host's MAC. */
export interface Binding {
  readonly address: string;
  /** Four or sixteen bytes. */
  readonly bytes: Uint8Array;
  /** Sorts as addresses are preferred: IPv4 by number, then global IPv6, then link-local. */
  readonly order: string;
  readonly watch: Watch;
  source: EvidenceSource;
  /** Milliseconds since the epoch. */
  lastSeenAt: number;
  /** Something says that it moved on: it is checked now instead of after minutes. */
  doubted: boolean;
}

/** What was last published. */
export interface PublishedState {
  readonly presence: "online" | "offline";
  readonly ip: string;
  readonly addresses: string;
  readonly hostname: string;
  readonly vendor: string;
  /** Of its services, as `factsText` writes it. */
  readonly evidence: string;
}

/** One MAC on the link, in memory; changed in place, as thousands of frames a second refresh it. */
export interface Host {
  /** The 48 bits as a number: the key of the hot path. */
  readonly key: number;
  readonly mac: string;
  readonly foundAt: number;
  /** In no order; at most MAX_BINDINGS. */
  readonly bindings: Binding[];
  readonly watch: Watch;
  names: HostNames;
  vendor: string;
  facts: readonly HostFact[];
  presence: "online" | "offline";
  /** Misses at the moment when it was given up. */
  missedChecks: number;
  /** Milliseconds since the epoch of the last evidence, from before the start too. */
  lastSeenAt: number;
  /** Null until the host_found event is written. */
  published: PublishedState | null;
  /** Monotonic milliseconds at which it, or its changes, may be published; infinity when there is nothing to publish. */
  announceAt: number;
  /** A newcomer is announced by then, whatever it is still waiting for. */
  announceLatestAt: number;
  /** Between two events about it; grows while one follows the other. */
  changePauseMs: number;
  /** Monotonic milliseconds of the last event about it. */
  changePublishedAt: number;
  /** When its address is to be looked up in DNS (monotonic), and how often that brought nothing. */
  reverseDueAt: number;
  reverseFailures: number;
  /** It did not answer polls since the start, so `offline` is knowledge. */
  confirmedOffline: boolean;
  /** Evidence since the last flush to the database, and since the last report. */
  unsaved: boolean;
  unreported: boolean;
}

/** One MAC that answers for a whole network, as proxy ARP does, must not fill the memory. Also the contract's limit. */
export const MAX_BINDINGS = 256;
/** Evidence in one event about a host; the contract's limit. */
export const MAX_EVIDENCE = 64;

/** 48 bits fit a double exactly. */
export function macKey(bytes: Uint8Array, offset = 0): number {
  const high = ((bytes[offset] as number) << 8) | (bytes[offset + 1] as number);
  const low =
    ((bytes[offset + 2] as number) << 24) |
    ((bytes[offset + 3] as number) << 16) |
    ((bytes[offset + 4] as number) << 8) |
    (bytes[offset + 5] as number);
  return high * 0x1_0000_0000 + (low >>> 0);
}

/** The MAC of `macKey`, as six bytes of its own. */
export function macBytes(key: number): Uint8Array {
  const high = Math.floor(key / 0x1_0000_0000);
  const low = key % 0x1_0000_0000;
  return Uint8Array.of(high >>> 8, high, low >>> 24, low >>> 16, low >>> 8, low);
}

/** A host that is online, has no address yet and was not published. @param options.foundAt Milliseconds since the epoch; `silentFrom` is monotonic. */
export function createHost(options: {
  readonly key: number;
  readonly vendor: string;
  readonly foundAt: number;
  readonly silentFrom: number;
}): Host {
  return {
    key: options.key,
    mac: formatMac(macBytes(options.key)),
    foundAt: options.foundAt,
    bindings: [],
    watch: createWatch(options.silentFrom),
    names: {},
    vendor: options.vendor,
    facts: [],
    presence: "online",
    missedChecks: 0,
    lastSeenAt: options.foundAt,
    published: null,
    announceAt: Number.POSITIVE_INFINITY,
    announceLatestAt: Number.POSITIVE_INFINITY,
    changePauseMs: 0,
    changePublishedAt: Number.NEGATIVE_INFINITY,
    reverseDueAt: 0,
    reverseFailures: 0,
    confirmedOffline: false,
    unsaved: false,
    unreported: false,
  };
}

/** @returns Null for text that is no address. */
export function createBinding(address: string, source: EvidenceSource, silentFrom: number, lastSeenAt: number): Binding | null {
  const bytes = parseIp(address);
  if (!bytes) return null;
  return { address, bytes, order: addressOrder(bytes), watch: createWatch(silentFrom), source, lastSeenAt, doubted: false };
}

function addressOrder(bytes: Uint8Array): string {
  const digits = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
  if (bytes.length === 4) return `a${digits}`;
  return bytes[0] === 0xfe && ((bytes[1] as number) & 0xc0) === 0x80 ? `c${digits}` : `b${digits}`;
}

/** The bindings in the order in which they are published. The first one's address is the host's `ip`. */
export function sortedBindings(host: Host): Binding[] {
  return host.bindings.toSorted((a, b) => (a.order < b.order ? -1 : 1));
}

/** From its first evidence to its last, in milliseconds: what a made-up host cannot have, however much it says. */
export function standingMs({ foundAt, lastSeenAt }: Pick<Host, "foundAt" | "lastSeenAt">): number {
  return Math.max(0, lastSeenAt - foundAt);
}

/** Whether any address that it is known by is IPv4. */
export function hasIpv4(host: Host): boolean {
  return host.bindings.some(({ bytes }) => bytes.length === 4);
}

/** What is true of a host with at least one address now, as the contract has it. */
export function describeHost(host: Host): HostState {
  const bindings = sortedBindings(host);
  return {
    ip: (bindings[0] as Binding).address,
    mac: host.mac,
    hostname: chooseName(host.names),
    vendor: host.vendor,
    addresses: bindings.map(({ address }) => address),
    evidence: [...nameEvidence(host), ...host.facts, ...bindings.map(toEvidence)].slice(0, MAX_EVIDENCE),
  };
}

/** What names and the maker of its interface say. */
export function nameEvidence(host: Pick<Host, "names" | "vendor" | "foundAt">): HostState["evidence"] {
  const names = NAME_SOURCES.flatMap((source) => {
    const name = host.names[source];
    if (!name) return [];
    return [{ field: "hostname", value: name.fullName, source, confidence: NAME_CONFIDENCE[source], seen_at: toInstant(name.seenAt) }];
  });
  // What people call a machine, and who made its interface, say a little of what it is.
  const name = chooseName(host.names);
  const claims = [...readMaker(host.vendor), ...(name === "" ? [] : deviceClaims(readAnswer("hostname", name)))];
  return [...names, ...claims.map((claim) => ({ ...claim, seen_at: toInstant(host.foundAt) }))];
}

function toEvidence(binding: Binding): HostState["evidence"][number] {
  // Whoever sends a datagram may lie about its source; ARP and NDP lies break the liar's own traffic.
  const confidence = binding.source === "traffic" ? 0.7 : 0.9;
  return { field: "ip", value: binding.address, source: binding.source, confidence, seen_at: toInstant(binding.lastSeenAt) };
}

/** What is compared to know whether to publish an event. */
export function publishedStateOf(host: Host): PublishedState {
  const bindings = sortedBindings(host);
  return {
    presence: host.presence,
    ip: bindings[0]?.address ?? "",
    addresses: bindings.map(({ address }) => address).join(" "),
    hostname: chooseName(host.names),
    vendor: host.vendor,
    evidence: factsText(host.facts),
  };
}
