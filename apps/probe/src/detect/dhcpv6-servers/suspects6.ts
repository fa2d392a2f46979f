import type { Severity } from "@lanthorn/contract/uplink";
import { createBoundedMap } from "../../bounded-map.ts";
import type { GuardDeps } from "../guard.ts";
import type { KnownServer6, KnownServers6 } from "./known-servers6.ts";
import { createNewcomers } from "../newcomers.ts";
import type { ServerMessage6 } from "./server-message6.ts";

/** Reports DHCPv6 servers that do not belong to the link. */
export interface Suspects6 {
  /** @param row The known server in whose name another host answers; null for an unknown server. */
  accuse(said: ServerMessage6, row: KnownServer6 | null): void;
  isOpen(said: ServerMessage6): boolean;
  /** Somebody has said that the server is right. */
  end(said: ServerMessage6): void;
  /** Whether an incident goes on. */
  isAny(): boolean;
}

const PAUSE_MS = 1000;
const MAX_SUSPECTS = 128;
/** Of a flood of forged servers so many are reported; the others cost a look. */
const NEW = { max: 100, withinMs: 1000 };

/** @param deps.onHint Something is to be looked at by a search. */
export function createSuspects6(deps: Pick<GuardDeps, "clock" | "incidents"> & { readonly known: KnownServers6; readonly onHint: () => void }): Suspects6 {
  const { clock, incidents, known, onHint } = deps;
  const newcomers = createNewcomers(NEW);
  /** By MAC: a tool draws another DUID for each answer. When it was reported last, and what it said first. Those not reported for longest make room. */
  const suspects = createBoundedMap<string, { readonly at: number; readonly facts: ServerMessage6["facts"] }>(MAX_SUSPECTS);

  function accuse(said: ServerMessage6, row: KnownServer6 | null): void {
    const now = clock.monotonic();
    const subject = said.mac;
    const before = suspects.get(subject);
    if (before ? now - before.at < PAUSE_MS : newcomers.add(subject, now) !== null) return;
    const facts = { ...said.facts, ...before?.facts };
    suspects.put(subject, { at: now, facts });
    const rows = row ? [row] : known.all().filter(({ vlanId }) => vlanId === said.vlanId);
    const [severity, why] = judge(said, rows);
    incidents.report({
      kind: "dhcpv6_server", subject, severity, ip: said.address, mac: said.mac, vlanId: said.vlanId, expectedMacs: [...new Set(rows.flatMap(({ macs }) => macs))],
      facts, packet: said.packet,
      detail: `${row ? `${said.mac} answers in the name of a known DHCPv6 server, whose MAC address is ${row.macs.join(", ")}.`
        : `The unknown DHCPv6 server ${said.address} (${said.mac}) answers clients.`} ${why} Find the switch port of this MAC address and switch the server off, or allow its `
        + "address in dhcp_servers if it belongs here.",
    });
    onHint();
  }

  return {
    accuse,
    isOpen: ({ mac }) => incidents.isOpen("dhcpv6_server", mac),
    end({ mac }) {
      suspects.delete(mac);
      if (incidents.isOpen("dhcpv6_server", mac)) incidents.end("dhcpv6_server", mac);
    },
    isAny: () => [...suspects.keys()].some((subject) => incidents.isOpen("dhcpv6_server", subject)),
  };
}

function judge({ dns, address, networks }: ServerMessage6, known: readonly KnownServer6[]): readonly [Severity, string] {
  if (dns.includes(address)) return ["high", "It names itself as the name server, so it can send clients anywhere."];
  if (dns.length > 0 && goesBeyond(dns, known.flatMap((row) => row.dns))) return ["high", `It gives clients the name servers ${dns.join(", ")}, which the known server does not.`];
  if (dns.length === 0 && networks.length === 0) return ["medium", "It gives neither addresses nor name servers."];
  return ["high", `It gives clients ${[dns.length > 0 ? `the name servers ${dns.join(", ")}` : "", networks.length > 0 ? `addresses in ${networks.join(", ")}` : ""].filter(Boolean).join(" and ")}.`];
}

/** Whether one of `some` is not among those known; nothing is where none is known. */
export function goesBeyond(some: readonly string[], known: readonly string[]): boolean {
  return known.length > 0 && some.some((one) => !known.includes(one));
}
