/** What flows say of DNS, as the detectors take it. */
import { createPassiveDns, type DnsSuspicion, type PassiveDnsCounters } from "@lanthorn/dns";
import { dhcpNameServers, dhcpv6DnsServers, formatIp } from "@lanthorn/packets";
import type { FlowKey, TrafficMessage } from "@lanthorn/traffic";
import type { DnsWatchSettings } from "./settings.ts";

/** Reads messages of flows. */
export interface DnsWatch {
  /** Keeps nothing of it. */
  onMessage(flow: FlowKey, message: TrafficMessage): void;
  counters(): PassiveDnsCounters;
}

/** Names of the link, which no resolver answers: Multicast DNS (RFC 6762), LLMNR (RFC 4795), NetBIOS (RFC 1002). */
const LINK_PORTS: ReadonlySet<number> = new Set([5353, 5355, 137]);
/** In the answer of a DHCP server: BOOTREPLY. RFC 2131 section 2. */
const DHCP_REPLY = 2;
const NOTHING: PassiveDnsCounters = { messages: 0, suspicions: 0, evicted: 0 };

/**
 * @param deps.random From 0 to below 1.
 * @param deps.onSuspicion Is called while the frame that shows it is analyzed.
 */
export function createDnsWatch(deps: { readonly settings: DnsWatchSettings; readonly random: () => number; readonly onSuspicion: (suspicion: DnsSuspicion) => void }): DnsWatch {
  const { enabled, allow, resolvers } = deps.settings;
  if (!enabled) return { onMessage: () => undefined, counters: () => NOTHING };
  const dns = createPassiveDns({ ...deps, allowed: allow, resolvers });

  function onDns(flow: FlowKey, { side, at, message, bytes }: Extract<TrafficMessage, { protocol: "dns" }>): void {
    const [sender, receiver] = side === 0 ? [flow.originator, flow.responder] : [flow.responder, flow.originator];
    const [client, server] = message.isResponse ? [receiver, sender] : [sender, receiver];
    if (LINK_PORTS.has(server.port) || LINK_PORTS.has(client.port)) return;
    dns.exchange({ message, bytes: bytes.length, client: formatIp(client.ip), clientPort: client.port, server: formatIp(server.ip), at });
  }

  function onDhcp(message: Extract<TrafficMessage, { protocol: "dhcp" }>): void {
    const named = message.family === 6 ? dhcpv6DnsServers(message.message.options) : message.message.op === DHCP_REPLY ? dhcpNameServers(message.message.options) : null;
    if (named) dns.resolversNamed(named.map((address) => formatIp(address)));
  }

  return {
    onMessage(flow, message) {
      if (message.protocol === "dns") onDns(flow, message);
      else if (message.protocol === "dhcp") onDhcp(message);
      else if ((message.protocol === "tls" || message.protocol === "quic") && message.kind === "client-hello") {
        const [client, server] = message.side === 0 ? [flow.originator, flow.responder] : [flow.responder, flow.originator];
        const { serverName, alpn } = message.hello;
        dns.hello({ client: formatIp(client.ip), server: formatIp(server.ip), port: server.port, serverName, alpn, isQuic: message.protocol === "quic", at: message.at });
      }
    },
    counters: () => dns.counters(),
  };
}
