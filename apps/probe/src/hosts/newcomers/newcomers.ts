import { formatIp, ipv4Number } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import type { SaidFact } from "../facts.ts";
import { mergeFacts } from "../facts.ts";
import { createHost, type Host } from "../host.ts";
import type { HostEvents } from "../host-events.ts";
import { type HostTable, onlineAt } from "../host-table.ts";
import { seenNow } from "../service-facts.ts";
import type { HostAnnouncer } from "../host-announcer.ts";
import type { Admission } from "./admission.ts";
import type { AdmissionQueue } from "./admission-queue.ts";
import { createPendingHosts } from "./pending-hosts.ts";

/** Lets hosts into the table that were never seen, and keeps what a MAC says before it has an address. */
export interface Newcomers {
  /** A MAC that is not in the table speaks from an address. @returns Its host; null where it is refused, or has to wait for its turn. */
  meet(key: number, address: Uint8Array, solicited: boolean): Host | null;
  /** The turn of one that had to wait. @returns As `meet`. */
  meetAgain(key: number, address: Uint8Array): Host | null;
  /** A MAC without a host shows no address. */
  notePending(mac: number): void;
  /** A MAC without a host is called so by DHCP. */
  namePending(mac: number, name: string): void;
  /** A MAC without a host asks for an IPv4 address. */
  noteDhcp(mac: number): void;
  /** A DHCP client shows its ways before it has an address; others' are seen again. */
  noteFacts(mac: number, facts: readonly SaidFact[]): void;
  /** Whether a MAC without a host is there, and asks no DHCP server for an address. */
  isHiding(mac: number): boolean;
}

/** Without IPv4 there is no hurry to announce: a lease usually takes a few seconds, a server's check for duplicates three more. */
export const SETTLE_OTHER_MS = 5000;
/** Longer for who asked for a lease: its IPv4 address and name come with the lease. */
export const SETTLE_DHCP_MS = 8000;
const SETTLE_LONGEST_MS = 15_000;
/** Looking for someone to leave reads the whole table. */
const FULL_PAUSE_MS = 10_000;

/** @param deps.admissionQueue Read at each newcomer. @param deps.vendorOf Empty for a MAC that no vendor owns. */
export function createNewcomers(deps: {
  readonly table: HostTable;
  readonly announcer: Pick<HostAnnouncer, "announceBy" | "forget">;
  readonly admission: Admission;
  readonly admissionQueue: () => Pick<AdmissionQueue, "takeTurn" | "wait">;
  readonly clock: Clock;
  readonly vendorOf: (mac: string) => string;
  readonly events: Pick<HostEvents, "onPending" | "onRefused">;
}): Newcomers {
  const { table, announcer, clock, events } = deps;
  const pendingHosts = createPendingHosts();
  let fullUntil = Number.NEGATIVE_INFINITY;

  const isAdmitted = (newcomer: Parameters<Admission["refusal"]>[0]): boolean => {
    const now = clock.monotonic();
    const reason = now < fullUntil ? "the table of hosts is full" : deps.admission.refusal(newcomer, now);
    if (reason !== null) events.onRefused(reason);
    return reason === null;
  };
  const sharersOf = (address: Uint8Array) => onlineAt(table, formatIp(address)).length;
  const enter = (key: number): Host | null => {
    const now = clock.monotonic();
    const host = createHost({ key, vendor: "", foundAt: clock.now(), silentFrom: now });
    host.vendor = deps.vendorOf(host.mac);
    const left = table.add(host, clock.now());
    if (left === null) {
      fullUntil = now + FULL_PAUSE_MS;
      events.onRefused("the table of hosts is full");
      return null;
    }
    announcer.forget(left);
    const pendingHost = pendingHosts.take(key);
    if (pendingHost?.name) host.names = { dhcp: { fullName: pendingHost.name, seenAt: clock.now() } };
    host.facts = pendingHost?.facts ?? [];
    host.announceAt = now + (pendingHost?.dhcpAt != null && now - pendingHost.dhcpAt < SETTLE_DHCP_MS ? SETTLE_DHCP_MS : SETTLE_OTHER_MS);
    host.announceLatestAt = now + SETTLE_LONGEST_MS;
    announcer.announceBy(host, host.announceAt);
    return host;
  };
  return {
    meet(key, address, solicited) {
      const admissionQueue = deps.admissionQueue();
      const hasTurn = !solicited || address.length !== 4 || admissionQueue.takeTurn();
      if (!isAdmitted({ solicited, sharers: hasTurn ? sharersOf(address) : 0 })) return null;
      if (hasTurn) return enter(key);
      admissionQueue.wait(key, ipv4Number(address));
      return null;
    },
    meetAgain: (key, address) => (isAdmitted({ solicited: true, hasWaited: true, sharers: sharersOf(address) }) ? enter(key) : null),
    notePending(mac) {
      if (pendingHosts.has(mac)) return;
      pendingHosts.meet(mac);
      events.onPending(mac);
    },
    namePending(mac, name) {
      Object.assign(pendingHosts.meet(mac), { name, dhcpAt: clock.monotonic() });
    },
    noteDhcp(mac) {
      pendingHosts.meet(mac).dhcpAt = clock.monotonic();
    },
    noteFacts(mac, facts) {
      const pendingHost = pendingHosts.meet(mac);
      pendingHost.facts = mergeFacts(pendingHost.facts, seenNow(facts, clock.now()));
    },
    isHiding: (mac) => pendingHosts.has(mac) && pendingHosts.meet(mac).dhcpAt === null,
  };
}
