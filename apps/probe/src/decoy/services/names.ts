/** What a decoy can serve. */
export const SERVICE_NAMES = [
  "ssh", "telnet", "ftp", "http", "https", "smtp", "pop3", "imap", "mysql", "postgres", "redis", "memcached", "vnc",
  "mongodb", "mssql", "ldap", "git", "mqtt", "ipp", "proxy", "print", "banner", "tarpit",
] as const;
/** One of `SERVICE_NAMES`. */
export type ServiceName = (typeof SERVICE_NAMES)[number];
