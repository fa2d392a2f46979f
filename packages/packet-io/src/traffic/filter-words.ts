/** Words of pcap-filter(7), as libpcap's scanner knows them. */
const KEYWORDS: ReadonlySet<string> = new Set([
  "dst", "src", "link", "ether", "ppp", "slip", "fddi", "tr", "wlan", "arp", "rarp", "ip", "sctp", "tcp", "udp", "icmp", "igmp", "igrp", "pim",
  "vrrp", "carp", "radio", "ip6", "icmp6", "ah", "esp", "atalk", "aarp", "decnet", "lat", "sca", "moprc", "mopdl", "iso", "esis", "es-is", "isis",
  "is-is", "l1", "l2", "iih", "lsp", "snp", "csnp", "psnp", "clnp", "stp", "ipx", "netbeui", "host", "net", "mask", "port", "portrange", "proto",
  "protochain", "gateway", "type", "subtype", "direction", "dir", "address1", "addr1", "address2", "addr2", "address3", "addr3", "address4",
  "addr4", "ra", "ta", "less", "greater", "byte", "broadcast", "multicast", "and", "or", "not", "len", "length", "inbound", "outbound", "vlan",
  "mpls", "pppoed", "pppoes", "geneve", "lane", "llc", "metac", "bcc", "oamf4sc", "oamf4ec", "oamf4", "oam", "sc", "ilmic", "vpi", "vci",
  "connectmsg", "metaconnect", "ifname", "on", "rset", "ruleset", "rnr", "rulenum", "srnr", "subrulenum", "reason", "action", "fisu", "lssu",
  "lsu", "msu", "hfisu", "hlssu", "hmsu", "sio", "opc", "dpc", "sls", "hsio", "hopc", "hdpc", "hsls",
]);
/** What follows one of these is the name of a port, protocol or type, found in a table or a local file. */
const LOCAL: ReadonlySet<string> = new Set(["port", "portrange", "proto", "protochain", "type", "subtype", "direction", "dir", "llc"]);
/** Join conditions, and leave open what they are about. */
const JOINS: ReadonlySet<string> = new Set(["and", "or", "not"]);
/** Names of offsets and values in headers: `tcp[tcpflags] & tcp-syn`. */
const CONSTANT = /^(?:tcpflags|icmp6?type|icmp6?code|(?:tcp|icmp6?)-[a-z0-9-]+)$/i;
/** Decimal, hexadecimal, an IPv4 address or the beginning of one, a MAC address in one of its spellings. */
const NUMBER = /^(?:\d+(?:\.\d+){0,3}|0x[0-9a-f]+|[0-9a-f]{1,2}(?:[.-][0-9a-f]{1,2}){5}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}|[0-9a-f]{12})$/i;
/** A range of ports by numbers. */
const RANGE = /^\d+-\d+$/;

/**
 * Finds what libpcap would look up as the name of a host, a network or a gateway: a question to a name server, which would block the process
 * and reveal what it watches.
 * @param text A filter, whether it is right or not.
 */
export function wordsOutsideGrammar(text: string): readonly string[] {
  const found: string[] = [];
  let isLocal = false;
  for (const [token] of text.matchAll(/[\\0-9A-Za-z_:][-.0-9A-Za-z_:]*/g)) {
    // IPv6 addresses, MAC addresses and the parts of an index: no name has a colon.
    const parts = token.includes(":") && /^[0-9a-f:.]+$/i.test(token) ? [] : token.split(":").filter((part) => part !== "");
    for (const word of parts) {
      const isEscaped = word.startsWith("\\");
      if (!isEscaped && KEYWORDS.has(word)) {
        if (!JOINS.has(word)) isLocal = LOCAL.has(word);
      } else if (!isLocal && !NUMBER.test(word) && !RANGE.test(word) && !CONSTANT.test(word)) found.push(word);
    }
  }
  return found;
}
