/** What evidence comes from, in words: by its source's first part. Others are protocols, and shown as they are called. */
const WORDS: Readonly<Record<string, string>> = {
  "person": "a person", "oui": "maker of its MAC", "hostname": "its name", "reverse-dns": "its name in DNS", "ports": "its open ports",
  "os": "its system", "gateway": "it is the default gateway", "tcp": "its TCP handshake", "scan": "how it answers for others",
  "http-server": "web server's name", "http-title": "web page's title", "http-realm": "web login's name",
  "http-json": "web service's answer", "favicon": "web page's icon", "ssh": "SSH greeting", "ftp": "FTP greeting",
  "smtp": "SMTP greeting", "imap": "IMAP greeting", "pop3": "POP3 greeting", "telnet": "Telnet greeting", "mysql": "MySQL greeting",
  "irc": "IRC greeting", "dns-version": "name server's version", "snmp": "SNMP", "snmp-description": "SNMP description",
  "snmp-object": "SNMP object ID", "tls-subject": "certificate", "mdns": "mDNS", "ssdp": "UPnP", "ws-discovery": "WS-Discovery",
  "dhcp": "DHCP", "lldp": "LLDP", "cdp": "CDP", "ntp": "NTP", "smb": "SMB", "ipmi": "IPMI", "modbus": "Modbus", "coap": "CoAP",
};
/** Of these the second part is for programs. */
const PLAIN: ReadonlySet<string> = new Set(["tcp"]);

/** A source of evidence for people: `http-title:80` is "web page's title, port 80". */
export function sourceWords(source: string): string {
  const [first = "", ...parts] = source.split(":");
  const port = parts.find((part) => /^\d+$/.test(part));
  const details = PLAIN.has(first) ? [] : parts.filter((part) => part !== port && part !== "recog");
  const words = [[WORDS[first] ?? first, ...details].join(" ")];
  if (port !== undefined) words.push(`port ${port}`);
  if (parts.includes("recog")) words.push("by Recog");
  return words.join(", ");
}
