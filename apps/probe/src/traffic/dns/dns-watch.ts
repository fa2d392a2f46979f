/** What flows say of DNS, as the detectors take it. */
import { createPassiveDns, type DnsSuspicion, type PassiveDnsCounters } from "@lanthorn/dns";
import { dhcpNameServers, dhcpv6DnsServers, formatIp } from "@lanthorn/packets";
import type { FlowKey, TrafficMessage } from "@lanthorn/traffic";
import type { DnsFinding } from "../../dns-threats/finding.ts";
import type { SiteContent } from "../../dns-lists/reading/site-lists.ts";
import { isLinkName } from "./link-names.ts";
import { createListedWatch } from "./listed-watch.ts";
import type { DnsWatchSettings } from "./settings.ts";

/** Reads messages of flows. */
export interface DnsWatch {
  /** Keeps nothing of it. */
  onMessage(flow: FlowKey, message: TrafficMessage): void;
  /** Harmful lists count as they are now; null for none. */
  useLists(content: SiteContent | null): void;
  counters(): DnsWatchCounters;
}

/** Sums since it was made. */
export interface DnsWatchCounters extends PassiveDnsCounters {
  /** Names that harmful lists have. */
  readonly listedNames: number;
  /** How often one was seen. */
  readonly listed: number;
}

/** In the answer of a DHCP server: BOOTREPLY. RFC 2131 section 2. */
const DHCP_REPLY = 2;
const NOTHING: DnsWatchCounters = { messages: 0, suspicions: 0, evicted: 0, listedNames: 0, listed: 0 };

/**
 * @param deps.random From 0 to below 1.
 * @param deps.onSuspicion Is called while the frame that shows it is analyzed; `onListed` too.
 */
export function createDnsWatch(deps: { readonly settings: DnsWatchSettings; readonly random: () => number; readonly onSuspicion: (suspicion: DnsSuspicion) => void; readonly onListed: (finding: DnsFinding) => void }): DnsWatch {
  const { enabled, allow, resolvers } = deps.settings;
  if (!enabled) return { onMessage: () => undefined, useLists: () => undefined, counters: () => NOTHING };
  const dns = createPassiveDns({ ...deps, allowed: allow, resolvers });
  const listed = createListedWatch({ allow, onFinding: deps.onListed });

  function onDns(flow: FlowKey, { side, at, message, bytes }: Extract<TrafficMessage, { protocol: "dns" }>): void {
    const [sender, receiver] = side === 0 ? [flow.originator, flow.responder] : [flow.responder, flow.originator];
    const [client, server] = message.isResponse ? [receiver, sender] : [sender, receiver];
    if (isLinkName(server.port, client.port)) return;
    const address = formatIp(client.ip);
    dns.exchange({ message, bytes: bytes.length, client: address, clientPort: client.port, server: formatIp(server.ip), at });
    // What a resolver asks on was asked by its clients, who are seen as well or are behind it.
    if (!dns.isResolver(address, at)) listed.exchange(message, { client: client.ip, server: server.ip, at });
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
        const isQuic = message.protocol === "quic";
        if (serverName !== null) listed.named(serverName, isQuic ? "QUIC" : "TLS", { client: client.ip, server: server.ip, at: message.at });
        dns.hello({ client: formatIp(client.ip), server: formatIp(server.ip), port: server.port, serverName, alpn, isQuic, at: message.at });
      } else if (message.protocol === "http" && message.kind === "request" && message.host !== null) {
        const [client, server] = message.side === 0 ? [flow.originator, flow.responder] : [flow.responder, flow.originator];
        listed.named(message.host, "HTTP", { client: client.ip, server: server.ip, at: message.at });
      }
    },
    useLists: (content) => listed.use(content),
    counters: () => ({ ...dns.counters(), listedNames: listed.names, listed: listed.found }),
  };
}
