import { type DeviceClaim, deviceClaims, type HostSoftware, readHostSoftware, readOpenPorts } from "@lanthorn/fingerprints";
import { parseMac } from "@lanthorn/packets";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { ServiceFinding } from "../identify/finding.ts";
import { factsText, type HostFact, KEY_CONFIDENCE, mergeFacts, newsOf, type SaidFact } from "./facts.ts";
import { type Host, macKey } from "./host.ts";
import { type HostTable, onlineAt } from "./host-table.ts";
import type { HostAnnouncer } from "./host-announcer.ts";

/** Takes facts about hosts from any source; the host is published with them when they say something new. */
export interface FactsTaker {
  note(host: Host, facts: readonly SaidFact[]): void;
  /** To whoever is online at an address. */
  noteAt(ip: string, facts: readonly SaidFact[]): void;
  /**
   * What a scan found a device to be for others: it becomes evidence of whoever has the MAC, or the address.
   * @returns Whether that is anybody: who has just answered may not be in the table yet.
   */
  noteRole(who: { readonly mac: string; readonly ip: string; readonly code: string }): boolean;
}

/** It was tried: nobody else would have answered so. */
const ROLE_CONFIDENCE = 0.9;
/** Who answers ARP for networks that are reached through him is their router, whatever else he is. @see RFC 1027 */
const ROUTES: SaidFact = { field: "device_type", value: "router", source: "scan", confidence: 0.75 };

/** What a service says, by its port, as what stands behind one differs from what stands behind another; and strong identity keys. */
export function serviceFacts(port: number, { claims, keys }: Pick<ServiceFinding, "claims" | "keys">): readonly SaidFact[] {
  const said = deviceClaims(claims).map((claim): DeviceClaim => ({ ...claim, source: atPort(claim.source, port) }));
  return [...keys.map(({ field, value, source }) => ({ field, value, source, confidence: KEY_CONFIDENCE })), ...said];
}

/** What a service says of the software of its host, by its port as its facts. */
export function serviceSoftware(port: number, claims: ServiceFinding["claims"]): readonly HostSoftware[] {
  return readHostSoftware(claims).map((software) => ({ ...software, source: atPort(software.source, port) }));
}

function atPort(source: string, port: number): string {
  return `${source.slice(0, 56)}:${port}`;
}

/** What open ports say together: of `ip protocol port` for each, with service and product where they were found, by address. */
export function portFacts(open: ReadonlyMap<string, string>): ReadonlyMap<string, readonly SaidFact[]> {
  const byHost = new Map<string, Map<string, string>>();
  for (const [text, service] of open) {
    const [ip = "", protocol, port = ""] = text.split(" ");
    const ports = byHost.get(ip) ?? new Map<string, string>();
    byHost.set(ip, ports.set(protocol === "udp" ? `${port}/udp` : port, service));
  }
  return new Map([...byHost].map(([ip, ports]) => [ip, readOpenPorts(ports)]));
}

/** @param deps.announcer Called where facts change what was published; the same facts again change times only. */
export function createFactsTaker(deps: {
  readonly table: HostTable; readonly announcer: Pick<HostAnnouncer, "announceChange">; readonly clock: Pick<Clock, "now">;
}): FactsTaker {
  const { table } = deps;
  const note: FactsTaker["note"] = (host, facts) => {
    const now = deps.clock.now();
    const news = newsOf(host.facts, facts, now);
    if (news.length === 0) return;
    host.facts = mergeFacts(host.facts, seenNow(news, now));
    if (factsText(host.facts) !== host.published?.evidence) deps.announcer.announceChange(host);
  };
  return {
    note,
    noteAt(ip, facts) {
      if (facts.length > 0) for (const host of onlineAt(table, ip)) note(host, facts);
    },
    noteRole({ mac, ip, code }) {
      const bytes = parseMac(mac);
      const byMac = bytes ? table.byMac(macKey(bytes)) : undefined;
      const hosts = byMac ? [byMac] : onlineAt(table, ip);
      const role: SaidFact = { field: "role", value: code, source: "scan", confidence: ROLE_CONFIDENCE };
      for (const host of hosts) note(host, code === "proxy-arp" ? [role, ROUTES] : [role]);
      return hosts.length > 0;
    },
  };
}

/** Facts as evidence of this moment, within the contract's limits. */
export function seenNow(facts: readonly SaidFact[], now: number): readonly HostFact[] {
  const seen_at = toInstant(now);
  return facts.map(({ field, value, source, confidence }) => ({ field, value: value.slice(0, 1024), source: source.slice(0, 64), confidence, seen_at }));
}
