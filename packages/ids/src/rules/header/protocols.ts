/** Protocols that a rule's header may name. */

import type { RuleProtocol } from "../rule.ts";

const TCP = 6;
const UDP = 17;

type Facts = Omit<RuleProtocol, "name">;

function packets(numbers: readonly number[] | null, ipVersion: 4 | 6 | null = null, scope: RuleProtocol["scope"] = "any"): Facts {
  return { numbers, ipVersion, applications: null, scope };
}

function application(numbers: readonly number[], applications: readonly string[]): Facts {
  return { numbers, ipVersion: null, applications, scope: "any" };
}

/** Protocols of packets, and those whose names are not simply what is recognized. */
const PROTOCOLS: Readonly<Record<string, Facts>> = {
  "ip": packets(null), "pkthdr": packets(null), "ipv4": packets(null, 4), "ip4": packets(null, 4), "ipv6": packets(null, 6), "ip6": packets(null, 6),
  "tcp": packets([TCP]), "tcp-pkt": packets([TCP], null, "packet"), "tcp-stream": packets([TCP], null, "stream"),
  "udp": packets([UDP]), "sctp": packets([132]), "icmp": packets([1, 58]), "icmpv4": packets([1]), "icmpv6": packets([58]),
  "http": application([TCP], ["http", "http2"]), "http1": application([TCP], ["http"]), "ssl": application([TCP], ["tls"]),
  "dcerpc": application([TCP, UDP], ["dcerpc", "smb"]), "ikev2": application([UDP], ["ike"]),
};

/** Protocols of the application by the transport that carries them. */
const APPLICATIONS: readonly (readonly [numbers: readonly number[], names: string])[] = [
  [[TCP], "http2 doh2 tls ssh smtp ftp ftp-data smb nfs imap pop3 telnet rfb rdp mqtt modbus pgsql mysql websocket ldap socks irc bittorrent msn jabber"],
  [[UDP], "quic dhcp tftp ntp ike bittorrent-dht mdns llmnr"],
  [[TCP, UDP], "dns krb5 snmp sip dnp3 enip"],
];

const NAMED: ReadonlyMap<string, Facts> = new Map([
  ...APPLICATIONS.flatMap(([numbers, names]) => names.split(" ").map((name) => [name, application(numbers, [name])] as const)),
  ...Object.entries(PROTOCOLS),
]);

/** @returns What a header's protocol allows, or `null` for one that is not known. */
export function parseProtocol(text: string): RuleProtocol | null {
  const name = text.toLowerCase();
  const facts = NAMED.get(name);
  return facts ? { name, ...facts } : null;
}
