import type { Severity } from "@lanthorn/contract/uplink";
import { formatIp, formatMac, IP_PROTOCOL, NDP_TYPE, TEREDO_PORT } from "@lanthorn/packets";
import type { Guard, GuardDeps, GuardFrame } from "../guard.ts";
import { readTunnel, type TunnelKind } from "./read-tunnel.ts";
import { createTunnelEnds } from "./tunnel-ends.ts";

const KIND = "unexpected_ipv6";
const SCOPE = "ipv6_tunnels";
const IPV6_KEY = "ipv6";
const IPV6_SUBJECT = "first IPv6";
/** While a router advertises itself, what hosts do with it is that incident's. */
const ROUTER_MS = 1_800_000;
const MAX_TUNNELS = 1024;

const SEVERITIES: Readonly<Record<TunnelKind, Severity>> = { "6in4": "medium", "ISATAP": "medium", "Teredo": "low" };

/** IPv6 that comes to a link without it: first addresses, and tunnels around the firewall. @see README.md "IPv6 on a link without it" */
export function createIpv6TunnelsGuard(deps: GuardDeps): Guard {
  const { clock, incidents, learned, learning, link } = deps;
  /** Tunnels that were there in the learning period. */
  const tunnels = new Set<string>();
  const ends = createTunnelEnds();
  let isIpv6Known = false;
  let routerAt = Number.NEGATIVE_INFINITY;
  for (const [key] of learned.load(SCOPE)) {
    if (key === IPV6_KEY) isIpv6Known = true;
    else tunnels.add(key);
  }

  function learnTunnel(key: string): void {
    if (tunnels.size >= MAX_TUNNELS) return;
    tunnels.add(key);
    learned.put(SCOPE, key, true);
  }

  function hearTunnel(at: GuardFrame, kind: TunnelKind): void {
    const { frame, captured } = at;
    const end = ends.insideOf(frame, link()?.gateways ?? []);
    if (end === null || end.mac === link()?.mac) return;
    const key = `${kind} ${end.mac}`;
    if (tunnels.has(key)) return;
    if (learning.isOn()) return learnTunnel(key);
    incidents.report({
      kind: KIND, subject: end.mac, severity: SEVERITIES[kind], ip: end.ip, mac: end.mac, vlanId: frame.vlanTags[0]?.vlanId ?? null,
      facts: { [kind]: end.other }, packet: captured.bytes,
      detail: `${end.ip} sends IPv6 inside of IPv4 (${kind}) with ${end.other}. A firewall that looks at IPv4 alone does not see what passes. `
        + "Close the tunnel at the host, and drop protocol 41 and UDP 3544 at the firewall; where the tunnel is right, add an exception.",
    });
  }

  function hearIpv6({ frame, captured }: GuardFrame): void {
    if (!isGlobal(frame.bytes[frame.sourceIpOffset] as number)) return;
    const { sourceMac, sourceIp } = frame;
    if (!sourceMac || !sourceIp) return;
    const mac = formatMac(sourceMac);
    if (mac === link()?.mac || clock.monotonic() - routerAt < ROUTER_MS) return;
    isIpv6Known = true;
    learned.put(SCOPE, IPV6_KEY, true);
    if (learning.isOn()) return;
    incidents.report({
      kind: KIND, subject: IPV6_SUBJECT, severity: "info", ip: formatIp(sourceIp), mac, vlanId: frame.vlanTags[0]?.vlanId ?? null, packet: captured.bytes,
      detail: `${formatIp(sourceIp)} is the first IPv6 address beyond the link that was seen here. Where IPv6 was not switched on on purpose, find out who gives addresses.`,
    });
  }

  return {
    name: "IPv6 on a link without it",
    onNdp(message) {
      if (message.kind === "router-advertisement") routerAt = clock.monotonic();
    },
    onAny(at) {
      const { network, ipProtocol, icmpType, sourcePort, destinationPort } = at.frame;
      if (network === "ipv4") {
        if (ipProtocol !== IP_PROTOCOL.ipv6 && sourcePort !== TEREDO_PORT && destinationPort !== TEREDO_PORT) return;
        const kind = readTunnel(at.frame);
        if (kind !== null) hearTunnel(at, kind);
      } else if (network === "ipv6" && !isIpv6Known && icmpType !== NDP_TYPE.neighborSolicitation) hearIpv6(at);
    },
  };
}

/** 2000::/3 and fc00::/7: what only a router or an operator gives. */
function isGlobal(first: number): boolean {
  return (first & 0xe0) === 0x20 || (first & 0xfe) === 0xfc;
}
