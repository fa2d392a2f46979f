import { formatIp, ipv4Bytes } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { createEvidence, type Evidence, findBinding } from "./evidence.ts";
import { type Binding, hasIpv4, type Host } from "./host.ts";
import type { HostEvents } from "./host-events.ts";
import { type HostTable, onlineAt } from "./host-table.ts";
import { cleanName, type NameSource, setName } from "./names.ts";
import type { Admission } from "./newcomers/admission.ts";
import { type AdmissionQueue, createAdmissionQueue } from "./newcomers/admission-queue.ts";
import { createNewcomers, SETTLE_DHCP_MS, SETTLE_OTHER_MS } from "./newcomers/newcomers.ts";
import type { Observer } from "./observer.ts";
import type { FactsTaker } from "./service-facts.ts";
import type { HostAnnouncer } from "./host-announcer.ts";

/** Turns what frames show into hosts: the one place where a host comes into being, changes its addresses, and comes back. */
export interface HostTracker extends Observer {
  /** As of `Evidence`. */
  readonly last: Evidence["last"];
  /** A host has answered a search of ours. Of a burst it waits for its turn, and costs no more than two numbers until then. */
  answered(mac: number, ip: number): void;
  /** Whether it shows no IPv4 address, and asks no DHCP server for one either. */
  isHiding(mac: number): boolean;
  /** Keeps an address out that nothing speaks for any more. */
  dropBinding(host: Host, binding: Binding): void;
  /** Enters who has answered and still waits for its turn. */
  enterAll(): void;
}

/** @param deps.events Where what is learned of hosts is raised. */
export function createHostTracker(deps: {
  readonly table: HostTable;
  readonly announcer: HostAnnouncer;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly vendorOf: (mac: string) => string;
  readonly facts: Pick<FactsTaker, "note">;
  readonly events: HostEvents;
}): HostTracker {
  const { table, announcer, clock, events } = deps;
  const evidence = createEvidence(deps);
  const newcomers = createNewcomers({ ...deps, admissionQueue: () => admissionQueue });
  const admissionQueue: AdmissionQueue = createAdmissionQueue({ clock, enter: (mac, address) => enterAnswered(mac, address) });

  const rename = (host: Host, fullName: string, source: NameSource) => {
    const isAnother = setName(host, source, fullName, clock.now());
    if (host.published === null && hasIpv4(host)) announcer.announceBy(host, clock.monotonic());
    else if (isAnother) announcer.announceChange(host);
  };
  const enterAnswered = (mac: number, address: Uint8Array) => {
    events.onSpoken(address);
    const host = table.byMac(mac) ?? newcomers.meetAgain(mac, address);
    if (host) evidence.note(host, address, "arp");
  };
  return {
    last: evidence.last,
    seen(mac, address, { source, solicited }) {
      if (address?.length === 4) events.onSpoken(address);
      const host = table.byMac(mac) ?? (address ? newcomers.meet(mac, address, solicited) : null);
      if (host) evidence.note(host, address, source);
      else if (!address) newcomers.notePending(mac);
    },
    answered(mac, ip) {
      if (admissionQueue.takeTurn()) enterAnswered(mac, ipv4Bytes(ip));
      else admissionQueue.wait(mac, ip);
    },
    expectation(mac, address) {
      const host = table.byMac(mac);
      if (host && findBinding(host, address)) return;
      if (!host && address.length === 4) newcomers.noteDhcp(mac);
      else if (host) waitForIpv4(host, clock.monotonic() + SETTLE_OTHER_MS);
      events.onExpected(mac, formatIp(address));
    },
    name(who, text, source) {
      const name = cleanName(text);
      if (name === null) return;
      if ("address" in who) {
        for (const host of onlineAt(table, formatIp(who.address))) rename(host, name, source);
        return;
      }
      const host = table.byMac(who.mac);
      if (!host) return newcomers.namePending(who.mac, name);
      waitForIpv4(host, clock.monotonic() + SETTLE_DHCP_MS);
      rename(host, name, source);
    },
    facts(who, facts) {
      if ("address" in who) {
        for (const host of onlineAt(table, formatIp(who.address))) deps.facts.note(host, facts);
        return;
      }
      const host = table.byMac(who.mac);
      if (host) deps.facts.note(host, facts);
      else newcomers.noteFacts(who.mac, facts);
    },
    listenerQuery: () => events.onListenerQuery(),
    isHiding(mac) {
      const host = table.byMac(mac);
      return host ? !hasIpv4(host) && !host.names.dhcp : newcomers.isHiding(mac);
    },
    enterAll: () => admissionQueue.enterAll(),
    dropBinding(host, binding) {
      table.removeBinding(host, binding);
      // A reverse name is the address's, not the host's.
      const { "reverse-dns": _, ...others } = host.names;
      host.names = others;
      host.reverseDueAt = 0;
      announcer.announceChange(host);
    },
  };
}

/** A newcomer that asks for an IPv4 address is announced with it. @param until Monotonic. */
function waitForIpv4(host: Host, until: number): void {
  if (host.published !== null || hasIpv4(host)) return;
  host.announceAt = Math.max(host.announceAt, Math.min(until, host.announceLatestAt));
}
