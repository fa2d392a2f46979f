import type { Severity } from "@lanthorn/contract/uplink";
import type { Sign } from "../incidents/sign.ts";
import { hasOtherProxy, isContradiction, newOnes } from "./handout.ts";
import type { KnownServer, Stranger } from "./known-servers.ts";
import type { ServerMessage } from "./server-message.ts";

/** What incidents of DHCP servers say. */
type Facts = Readonly<Record<string, string>>;

const WHAT_TO_DO = "Find the switch port of this MAC address and switch the server off, or allow it in dhcp_servers if it belongs here.";

/** An unknown server answers. @param rivals Those that are known there. @param gateways Gateways that are known beside theirs. */
export function accusation(said: ServerMessage, rivals: readonly KnownServer[], { facts, gateways }: { readonly facts: Facts; readonly gateways: readonly string[] }): Sign {
  if (said.isToRelay) return remoteServer(said, facts);
  const [severity, why] = judgeSeverity(said, rivals, gateways);
  return {
    ...base(said, facts), subject: said.server, severity, expectedMacs: macsOf(rivals),
    detail: `The unknown DHCP server ${said.server} (${facts["host_name"] ?? said.mac}) answers clients. ${why} ${WHAT_TO_DO}`,
  };
}

/** The relay has asked it, as somebody has set it to: it answers clients of another link. */
function remoteServer(said: ServerMessage, facts: Facts): Sign {
  return {
    ...base(said, facts), subject: said.server, severity: "info", expectedMacs: [],
    detail: `The unknown DHCP server ${said.server} (${facts["host_name"] ?? said.mac}) answers the relay ${said.giaddr || "of another network"}. Allow it in dhcp_servers if it belongs here.`,
  };
}

function judgeSeverity({ handout, server }: ServerMessage, rivals: readonly KnownServer[], others: readonly string[]): readonly [Severity, string] {
  if (!handout) return ["high", "No server of this name is known here."];
  const gateways = [...new Set([...rivals.flatMap((row) => row.handout?.gateways ?? []), ...others])];
  const foreign = newOnes(handout.gateways, gateways);
  if (foreign.length > 0) {
    return ["critical", `It leads clients to the gateway ${foreign.join(", ")}, where their traffic can be read and changed; the known one is ${gateways.join(", ")}.`];
  }
  if (handout.gateways.includes(server)) return ["critical", "It leads clients to itself as their gateway, so it can read and change their traffic."];
  if (rivals.some((row) => row.handout && isContradiction(row.handout, handout))) {
    return ["high", `It gives clients the name servers ${handout.dns.join(", ")}, which differ from those of the known server.`];
  }
  if (rivals.some((row) => row.handout && hasOtherProxy(handout, row.handout))) {
    return ["high", `It gives clients the proxy script ${handout.proxyScript}, which the known server does not.`];
  }
  if (rivals.every((row) => row.handout === null)) return ["high", `It gives clients the gateway ${handout.gateways.join(", ")} and the name servers ${handout.dns.join(", ")}.`];
  return ["medium", "It gives the same gateway and name servers as the known server, as the second of a failover pair does."];
}

/** A server that was learned before a more trusted one has contradicted it. */
export function unmasking(row: KnownServer, rival: ServerMessage): Sign {
  const handed = { gateway: row.handout?.gateways.join(" ") ?? "", dns: row.handout?.dns.join(" ") ?? "" };
  return {
    ...base(rival, { server: row.server, ...handed, contradicted_by: rival.server }), subject: row.server, severity: "critical", ip: ipOf(row.server),
    mac: row.macs[0] ?? "", expectedMacs: [rival.mac],
    detail: `The DHCP server ${row.server} contradicts ${rival.server}, which leads clients to the gateway that this network uses. ${WHAT_TO_DO}`,
  };
}

/** Another host answers in a known server's name. */
export function impersonation(row: KnownServer, said: ServerMessage, facts: Facts): Sign {
  const isOther = (what: "gateways" | "dns") => said.handout?.[what].some((one) => row.handout?.[what].includes(one) !== true) === true;
  const isGateway = isOther("gateways");
  return {
    ...base(said, facts), subject: said.mac, severity: isGateway ? "critical" : "high", expectedMacs: row.macs,
    detail: `${said.mac} answers clients in the name of the DHCP server ${row.server}, whose MAC address is ${row.macs.join(", ")}, and gives them `
      + `${isGateway ? "another gateway" : isOther("dns") ? "other name servers" : "another proxy script"}. ${WHAT_TO_DO}`,
  };
}

/** A known server gives clients other name servers: its settings have changed, or somebody speaks in its name and under its MAC address. */
export function newNameServers(row: KnownServer, said: ServerMessage): Sign {
  const [dns, known] = [said.handout?.dns.join(" ") ?? "", row.handout?.dns.join(" ") ?? ""];
  return {
    ...base(said, { server: row.server, dns, known_dns: known }), subject: row.server, severity: "medium", expectedMacs: row.macs,
    detail: `The DHCP server ${row.server} gives clients the name servers ${dns}; it was ${known} before. Whoever answers their questions for names can send them anywhere. Look whether `
      + "somebody has changed the server's settings. From now on they are taken as normal.",
  };
}

/** Another host answers in the name of a known server that is alive: it refuses clients, or gives them the same. */
export function namesake(row: KnownServer, { mac, packet, isRefusal }: Stranger): Sign {
  const sign = { kind: "dhcp_server", subject: mac, ip: ipOf(row.server), mac, vlanId: row.vlanId, expectedMacs: row.macs, packet, facts: { server: row.server } } as const;
  if (isRefusal) {
    return {
      ...sign, severity: "high",
      detail: `${mac} refuses clients their addresses in the name of the DHCP server ${row.server}, which is alive at ${row.macs.join(", ")}. ${WHAT_TO_DO}`,
    };
  }
  return {
    ...sign, severity: "info",
    detail: `${mac} answers clients in the name of the DHCP server ${row.server} as well, which is alive at ${row.macs.join(", ")}, and gives them the same, as the second port or the second member of a `
      + "cluster does. If it is neither, find its switch port.",
  };
}

/** A client has chosen an unknown server, whose answers are not seen. */
export function choice(
  server: string, { client, vlanId, packet }: { readonly client: string; readonly vlanId: number | null; readonly packet: Uint8Array }, known: readonly KnownServer[],
): Sign {
  return {
    kind: "dhcp_server", subject: server, severity: "high", ip: ipOf(server), mac: "", vlanId, packet, facts: { server, client }, expectedMacs: macsOf(known),
    detail: `The client ${client} takes its address from the DHCP server ${server}, which is unknown here and answers it alone. Look for this address, `
      + "or allow it in dhcp_servers if it belongs here.",
  };
}

/** A server that says where to boot from. */
export function bootServer(said: ServerMessage, facts: Facts): Sign {
  return {
    ...base(said, facts), subject: said.server, severity: "info",
    detail: `${said.server} tells clients that boot from the network where to boot from (PXE), and gives them no addresses. Allow it in dhcp_servers if it belongs here.`,
  };
}

function base(said: ServerMessage, facts: Facts): Omit<Sign, "subject" | "severity" | "detail" | "expectedMacs"> {
  return { kind: "dhcp_server", ip: ipOf(said.server), mac: said.mac, vlanId: said.vlanId, facts, packet: said.packet };
}

function macsOf(rows: readonly KnownServer[]): readonly string[] {
  return [...new Set(rows.flatMap(({ macs }) => macs))];
}

/** A server without an address is known by its MAC. */
function ipOf(server: string): string {
  return server.includes(":") ? "" : server;
}
