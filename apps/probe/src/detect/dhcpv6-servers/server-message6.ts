import {
  decodeDhcpv6, decodeUtf8, DHCPV6_OPTION, DHCPV6_PORT, DHCPV6_TYPE, dhcpv6DnsServers, dhcpv6Inner, dhcpv6Leases, dhcpv6Option, dhcpv6ServerId, formatIpv6, formatMac,
} from "@lanthorn/packets";
import type { GuardFrame } from "../guard.ts";

/** What a DHCPv6 server has said. Addresses as text, sorted. */
export interface ServerMessage6 {
  /** Its DUID, hexadecimal digits. */
  readonly duid: string;
  readonly address: string;
  readonly mac: string;
  readonly vlanId: number | null;
  readonly transactionId: number;
  /** The link that a relay names; empty without one. */
  readonly relayLink: string;
  readonly dns: readonly string[];
  /** The networks of 64 bits that it leases addresses in. */
  readonly networks: readonly string[];
  /** What it says, for the operator. */
  readonly facts: Readonly<Record<string, string>>;
  readonly packet: Uint8Array;
}

const ANSWERS: ReadonlySet<number> = new Set([DHCPV6_TYPE.advertise, DHCPV6_TYPE.reply, DHCPV6_TYPE.reconfigure]);
const MAX_TEXTS = 16;
const MAX_FACT_OPTION = 512;

/** @param at A datagram. @returns Null for what no server says. @see RFC 8415 sections 7.3 and 16 */
export function readServerMessage6({ captured, frame }: GuardFrame): ServerMessage6 | null {
  if (frame.ipLength !== 16 || !isAnswerPort(frame.sourcePort, frame.destinationPort)) return null;
  const { sourceMac, sourceIp, vlanTags } = frame;
  if (!sourceIp || !sourceMac) return null;
  const outer = decodeDhcpv6(frame.payload);
  const inner = outer.ok ? dhcpv6Inner(outer.value) : null;
  const duid = inner && ANSWERS.has(inner.message.type) ? dhcpv6ServerId(inner.message.options) : null;
  if (!inner || !duid) return null;
  const { message: { options, transactionId }, relay } = inner;
  const dns = sorted((dhcpv6DnsServers(options) ?? []).map((bytes) => formatIpv6(bytes)));
  const leases = dhcpv6Leases(options);
  const networks = sorted(leases.filter(({ prefixLength }) => prefixLength === 128).map(({ address }) => {
    const network = address.slice();
    network.fill(0, 8);
    return `${formatIpv6(network)}/64`;
  }));
  const prefixes = leases.filter(({ prefixLength }) => prefixLength < 128).map(({ address, prefixLength }) => `${formatIpv6(address)}/${prefixLength}`);
  const relayLink = relay ? formatIpv6(relay.linkAddress) : "";
  const domains = dhcpv6Option(options, DHCPV6_OPTION.domainList);
  const bootfile = dhcpv6Option(options, DHCPV6_OPTION.bootfileUrl);
  const address = formatIpv6(sourceIp);
  const facts = {
    duid: Buffer.from(duid).toString("hex"), dns: dns.join(" "), dns_is_itself: dns.length > 0 ? (dns.includes(address) ? "yes" : "no") : "", networks: networks.join(" "),
    prefixes: prefixes.join(" "),
    lease_seconds: leases[0] ? `${leases[0].validSeconds}` : "", domains: domains ? decodeUtf8(domains.subarray(0, MAX_FACT_OPTION)).replaceAll(/\p{Cc}+/gu, ".") : "",
    boot_file: bootfile ? decodeUtf8(bootfile.subarray(0, MAX_FACT_OPTION)) : "", relay: relayLink,
  };
  return {
    duid: facts.duid, address, mac: formatMac(sourceMac), vlanId: vlanTags.at(-1)?.vlanId || null, transactionId, relayLink, dns, networks,
    facts: Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== "")), packet: captured.bytes,
  };
}

/** Servers send from any port to clients, and to relays' port. */
function isAnswerPort(source: number, destination: number): boolean {
  return destination === DHCPV6_PORT.client || (source === DHCPV6_PORT.server && destination === DHCPV6_PORT.server);
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted().slice(0, MAX_TEXTS);
}
