/** What a decoy can serve over TCP. */
export const STREAM_SERVICE_NAMES = [
  "ssh", "telnet", "ftp", "http", "https", "smtp", "pop3", "imap", "mysql", "postgres", "redis", "memcached", "vnc",
  "mongodb", "mssql", "ldap", "git", "mqtt", "ipp", "proxy", "print", "banner", "tarpit", "smb2", "rdp", "winrm",
] as const;
/** One of `STREAM_SERVICE_NAMES`. */
export type StreamServiceName = (typeof STREAM_SERVICE_NAMES)[number];

/** What a decoy can serve over UDP. */
export const DATAGRAM_SERVICE_NAMES = ["snmp", "tftp", "ntp", "sip"] as const;
/** One of `DATAGRAM_SERVICE_NAMES`. */
export type DatagramServiceName = (typeof DATAGRAM_SERVICE_NAMES)[number];

/** What a decoy can serve. */
export const SERVICE_NAMES = [...STREAM_SERVICE_NAMES, ...DATAGRAM_SERVICE_NAMES] as const;
/** One of `SERVICE_NAMES`. */
export type ServiceName = (typeof SERVICE_NAMES)[number];

const DATAGRAMS: ReadonlySet<string> = new Set(DATAGRAM_SERVICE_NAMES);

/** Whether a service speaks UDP. */
export function isDatagramService(name: ServiceName): name is DatagramServiceName {
  return DATAGRAMS.has(name);
}
