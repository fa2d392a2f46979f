import type { HoneypotStage } from "@lanthorn/contract";

/** A real client of a decoy's service, and how far it goes. */
export interface DecoyClient {
  /** The decoy's name too. */
  readonly service: string;
  readonly port: number;
  readonly program: string;
  readonly args: (address: string, port: number) => readonly string[];
  readonly input?: string;
  readonly stage: HoneypotStage;
  /** Over UDP. */
  readonly isDatagram?: true;
}

/** Debian packages with the clients that machines lack. */
export const CLIENT_PACKAGES = ["sshpass", "hydra", "nmap", "lftp", "redis-tools", "mariadb-client-core", "libmemcached-tools", "ldap-utils", "mosquitto-clients", "freetds-bin", "git", "curl", "snmp", "tftp-hpa", "sipsak", "rdate", "python3-pymongo", "smbclient"];

/** Nothing listens for so long that a client would hang on it. */
const CURL = ["-s", "-k", "--max-time", "20", "-o", "/dev/null"];
const PASSWORD = "Winter2026";
const hydra = (service: string, login: readonly string[] = ["-l", "admin"]) => (address: string, port: number) => ["-I", "-q", "-t", "1", ...login, "-p", PASSWORD, "-s", `${port}`, address, service];

/** One for each service that a program of Debian's speaks (for MongoDB its library of Python's); each is a decoy of its own. */
export const CLIENTS: readonly DecoyClient[] = [
  {
    service: "ssh", port: 22, program: "sshpass", stage: "credential",
    args: (address, port) => ["-p", PASSWORD, "ssh", "-F", "none", "-p", `${port}`, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "NumberOfPasswordPrompts=1", "-o", "PubkeyAuthentication=no", `root@${address}`],
  },
  { service: "telnet", port: 23, program: "hydra", args: hydra("telnet"), stage: "credential" },
  { service: "ftp", port: 21, program: "lftp", args: (address, port) => ["-u", `admin,${PASSWORD}`, "-p", `${port}`, "-e", "set net:max-retries 1; set ftp:ssl-allow no; ls; bye", address], stage: "credential" },
  { service: "http", port: 80, program: "curl", args: (address, port) => [...CURL, "-d", `username=admin&password=${PASSWORD}`, `http://${address}:${port}/login`], stage: "credential" },
  { service: "https", port: 443, program: "curl", args: (address, port) => [...CURL, "-u", `admin:${PASSWORD}`, `https://${address}:${port}/`], stage: "credential" },
  { service: "smtp", port: 25, program: "curl", args: (address, port) => [...CURL, "-u", `admin:${PASSWORD}`, "--mail-from", "a@example.net", "--mail-rcpt", "b@example.net", "-T", "-", `smtp://${address}:${port}`], input: "hello\n", stage: "credential" },
  { service: "pop3", port: 110, program: "curl", args: (address, port) => [...CURL, "-u", `admin:${PASSWORD}`, `pop3://${address}:${port}/`], stage: "credential" },
  { service: "imap", port: 143, program: "curl", args: (address, port) => [...CURL, "-u", `admin:${PASSWORD}`, `imap://${address}:${port}/`], stage: "credential" },
  { service: "mysql", port: 3306, program: "mariadb", args: (address, port) => ["-h", address, "-P", `${port}`, "-u", "root", `-p${PASSWORD}`, "-e", "show databases"], stage: "credential" },
  { service: "postgres", port: 5432, program: "psql", args: (address, port) => ["-w", `postgresql://postgres:${PASSWORD}@${address}:${port}/postgres`, "-c", "select 1"], stage: "credential" },
  { service: "redis", port: 6379, program: "redis-cli", args: (address, port) => ["-h", address, "-p", `${port}`, "KEYS", "*"], stage: "command" },
  { service: "memcached", port: 11_211, program: "memcstat", args: (address, port) => [`--servers=${address}:${port}`], stage: "command" },
  { service: "ldap", port: 389, program: "ldapwhoami", args: (address, port) => ["-x", "-H", `ldap://${address}:${port}`, "-D", "cn=admin,dc=example,dc=net", "-w", PASSWORD], stage: "credential" },
  { service: "mqtt", port: 1883, program: "mosquitto_sub", args: (address, port) => ["-h", address, "-p", `${port}`, "-u", "sensor", "-P", PASSWORD, "-t", "#", "-W", "5"], stage: "credential" },
  { service: "mssql", port: 1433, program: "tsql", args: (address, port) => ["-H", address, "-p", `${port}`, "-U", "sa", "-P", PASSWORD], stage: "credential" },
  { service: "git", port: 9418, program: "git", args: (address, port) => ["ls-remote", `git://${address}:${port}/payroll.git`], stage: "command" },
  { service: "proxy", port: 3128, program: "curl", args: (address, port) => [...CURL, "-x", `http://admin:${PASSWORD}@${address}:${port}`, "https://www.example.net/"], stage: "credential" },
  { service: "ipp", port: 631, program: "curl", args: (address, port) => [...CURL, "-u", `admin:${PASSWORD}`, "--data-binary", "\u0001\u0001", `http://${address}:${port}/ipp/print`], stage: "credential" },
  { service: "vnc", port: 5900, program: "hydra", args: hydra("vnc", []), stage: "credential" },
  { service: "print", port: 9100, program: "curl", args: (address, port) => [...CURL, "--max-time", "3", "-T", "-", `telnet://${address}:${port}`], input: "%-12345X@PJL INFO STATUS\r\n", stage: "file" },
  {
    service: "mongodb", port: 27_017, program: "python3", stage: "credential",
    args: (address, port) => ["-c", `import pymongo; c = pymongo.MongoClient("${address}", ${port}, username="admin", password="${PASSWORD}", serverSelectionTimeoutMS=5000); c.list_database_names()`],
  },
  { service: "snmp", isDatagram: true, port: 161, program: "snmpget", args: (address, port) => ["-v2c", "-c", "public", `${address}:${port}`, "1.3.6.1.2.1.1.1.0"], stage: "credential" },
  { service: "tftp", isDatagram: true, port: 69, program: "tftp", args: (address, port) => ["-m", "binary", address, `${port}`, "-c", "get", "startup-config", "/dev/null"], stage: "command" },
  { service: "ntp", isDatagram: true, port: 123, program: "rdate", args: (address, port) => ["-n", "-p", "-o", `${port}`, address], stage: "banner" },
  { service: "sip", isDatagram: true, port: 5060, program: "sipsak", args: (address, port) => ["-U", "-s", `sip:100@${address}:${port}`, "-u", "joe", "-a", PASSWORD], stage: "credential" },
  { service: "smb2", port: 445, program: "smbclient", args: (address, port) => ["-p", `${port}`, "-L", `//${address}`, "-U", `SITE\\joe%${PASSWORD}`, "-s", "/dev/null"], stage: "credential" },
  { service: "rdp", port: 3389, program: "hydra", args: hydra("rdp"), stage: "credential" },
  { service: "winrm", port: 5985, program: "curl", args: (address, port) => [...CURL, "--ntlm", "-u", `SITE\\joe:${PASSWORD}`, "-d", "<x/>", `http://${address}:${port}/wsman`], stage: "credential" },
  { service: "banner", port: 2000, program: "curl", args: (address, port) => [...CURL, "--max-time", "2", `telnet://${address}:${port}`], stage: "touch" },
  { service: "tarpit", port: 2222, program: "curl", args: (address, port) => [...CURL, "--max-time", "2", `telnet://${address}:${port}`], stage: "touch" },
];
