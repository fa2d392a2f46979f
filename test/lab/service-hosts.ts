import { FURTHER_DAEMONS, FURTHER_PACKAGES } from "./further-daemons.ts";
import type { Daemon, HostPlan, Service } from "./host-plan.ts";

/**
 * Daemons of the larger lab, each with the package that tells its version, where it listens and what it is called. The product is a part
 * of how its makers and nmap call it; the version is the package's own, without what Debian adds.
 */
export interface ServiceDaemon {
  readonly package: string;
  readonly services: readonly (Service & { readonly product: RegExp })[];
}

const tcp = (port: number, name: string, product: RegExp) => ({ port, protocol: "tcp" as const, name, product });
const udp = (port: number, name: string, product: RegExp) => ({ port, protocol: "udp" as const, name, product });

export const SERVICE_DAEMONS = {
  apache: { package: "apache2-bin", services: [tcp(80, "http", /Apache httpd/)] },
  lighttpd: { package: "lighttpd", services: [tcp(80, "http", /lighttpd/)] },
  vsftpd: { package: "vsftpd", services: [tcp(21, "ftp", /vsftpd/)] },
  exim: { package: "exim4-daemon-light", services: [tcp(25, "smtp", /Exim smtpd/)] },
  dovecot: {
    package: "dovecot-core", services: [
      tcp(143, "imap", /Dovecot imapd/), tcp(110, "pop3", /Dovecot pop3d/),
      tcp(993, "imaps", /Dovecot imapd/), tcp(995, "pop3s", /Dovecot pop3d/),
    ],
  },
  mariadb: { package: "mariadb-server-core", services: [tcp(3306, "mysql", /MariaDB/)] },
  postgresql: { package: "postgresql-15", services: [tcp(5432, "postgresql", /PostgreSQL DB/)] },
  redis: { package: "redis-server", services: [tcp(6379, "redis", /Redis key-value store/)] },
  memcached: { package: "memcached", services: [tcp(11_211, "memcached", /Memcached/i)] },
  mosquitto: { package: "mosquitto", services: [tcp(1883, "mqtt", /mosquitto/i)] },
  bind: { package: "bind9", services: [tcp(53, "domain", /ISC BIND/), udp(53, "domain", /ISC BIND/)] },
  unbound: { package: "unbound", services: [tcp(53, "domain", /Unbound/), udp(53, "domain", /Unbound/)] },
  samba: { package: "samba", services: [tcp(445, "microsoft-ds", /Samba smbd/)] },
  slapd: { package: "slapd", services: [tcp(389, "ldap", /OpenLDAP/)] },
  ntpsec: { package: "ntpsec", services: [udp(123, "ntp", /\bNTP(?:sec)?\b/)] },
  rsync: { package: "rsync", services: [tcp(873, "rsync", /rsync/)] },
  tftpd: { package: "tftpd-hpa", services: [udp(69, "tftp", /tftpd/i)] },
  cups: { package: "cups-daemon", services: [tcp(631, "ipp", /CUPS/)] },
  inetd: { package: "inetutils-telnetd", services: [tcp(23, "telnet", /telnetd/), tcp(79, "finger", /fingerd/)] },
  vnc: { package: "tigervnc-standalone-server", services: [tcp(5900, "vnc", /VNC/)] },
  rpcbind: { package: "rpcbind", services: [tcp(111, "rpcbind", /rpcbind/), udp(111, "rpcbind", /rpcbind/)] },
  squid: { package: "squid", services: [tcp(3128, "http-proxy", /Squid http proxy/)] },
  haproxy: { package: "haproxy", services: [tcp(80, "http-proxy", /HAProxy http proxy/)] },
  ngircd: { package: "ngircd", services: [tcp(6667, "irc", /ngircd/)] },
  minidlna: { package: "minidlna", services: [tcp(8200, "upnp", /MiniDLNA/)] },
  dropbear: { package: "dropbear-bin", services: [tcp(22, "ssh", /Dropbear sshd/)] },
  tinyproxy: { package: "tinyproxy-bin", services: [tcp(8888, "http-proxy", /tinyproxy/i)] },
  nats: { package: "nats-server", services: [tcp(4222, "nats", /NATS/i)] },
  xvfb: { package: "xvfb", services: [tcp(6000, "X11", /X\.?Org/i)] },
  ...FURTHER_DAEMONS,
  mpd: { package: "mpd", services: [tcp(6600, "mpd", /Music Player Daemon/)] },
} as const satisfies Readonly<Record<string, ServiceDaemon>>;
export type ServiceDaemonName = keyof typeof SERVICE_DAEMONS;

/** Debian packages of the larger lab, beside the smaller one's. */
export const SERVICE_PACKAGES: readonly string[] = [
  ...Object.values(SERVICE_DAEMONS).map((daemon) => daemon.package),
  ...FURTHER_PACKAGES, "dovecot-imapd", "dovecot-pop3d", "inetutils-inetd", "fingerd", "finger", "x11-xkb-utils", "xkb-data", "nftables",
  "openssl", "nmap",
];

const host = (index: number, name: string, maker: string, daemons: readonly Daemon[], rest: Partial<HostPlan> = {}): HostPlan => ({
  name, mac: `${maker}:78:00:${index.toString(16).padStart(2, "0")}`, addresses: [`10.77.0.${index}/24`], daemons, ...rest,
});

/** Makers whose blocks of addresses the hosts' cards lie in: Dell, HPE, Supermicro, Intel, Raspberry Pi, Lenovo. */
const [DELL, HPE, SUPERMICRO, INTEL, RASPBERRY, LENOVO] = ["10:65:30", "14:76:49", "00:25:90", "10:51:07", "2c:cf:67", "6c:4b:90"] as const;

/** What the larger lab has beside `HOSTS`: a host for each of many daemons, and some that make it hard to look at them. */
export const SERVICE_HOSTS: readonly HostPlan[] = [
  host(60, "apache", DELL, ["apache"]),
  host(61, "lighttpd", RASPBERRY, ["lighttpd"]),
  host(62, "ftp", DELL, ["vsftpd"]),
  host(63, "mail", HPE, ["exim", "dovecot"]),
  host(64, "mariadb", SUPERMICRO, ["mariadb"]),
  host(65, "postgres", SUPERMICRO, ["postgresql"]),
  host(66, "cache", INTEL, ["redis", "memcached"]),
  host(67, "broker", RASPBERRY, ["mosquitto", "nats"]),
  host(68, "dns1", HPE, ["bind"]),
  host(69, "dns2", HPE, ["unbound"]),
  host(70, "files", DELL, ["samba", "rsync"]),
  host(71, "directory", DELL, ["slapd"]),
  host(72, "clock", INTEL, ["ntpsec"]),
  host(73, "boot", INTEL, ["tftpd"]),
  host(74, "spooler", LENOVO, ["cups"]),
  host(75, "old-unix", HPE, ["inetd", "rpcbind"]),
  host(76, "desktop", LENOVO, ["vnc", "xvfb"]),
  host(77, "proxy", SUPERMICRO, ["squid", "tinyproxy"]),
  host(78, "balancer", SUPERMICRO, ["haproxy"]),
  host(79, "chat", RASPBERRY, ["ngircd"]),
  host(80, "media", INTEL, ["minidlna", "mpd"]),
  host(81, "board", RASPBERRY, ["dropbear"]),
  host(83, "dropping", DELL, ["dropbear"], { filter: "drop" }),
  host(84, "rejecting", DELL, ["dropbear"], { filter: "reject" }),
  host(85, "limiting", DELL, ["dropbear"], { filter: "limit" }),
  host(140, "kdc", DELL, ["krb5kdc", "prosody"]),
  host(141, "terminal", DELL, ["xrdp"]),
  host(142, "queue", SUPERMICRO, ["rabbitmq", "beanstalkd"]),
  host(143, "telephony", HPE, ["kamailio", "coturn"]),
  host(144, "plc", RASPBERRY, ["pymodbus", "coap"]),
  host(145, "bmc", SUPERMICRO, ["ipmisim"]),
  host(147, "archive", DELL, ["rpcbind", "ganesha", "svnserve"]),
  host(148, "torrent", INTEL, ["transmission", "icecast"]),
  host(149, "cluster", SUPERMICRO, ["etcd", "registry", "prometheus"]),
  host(150, "voice", RASPBERRY, ["mumble", "dictd"]),
  host(151, "position", RASPBERRY, ["gpsd"]),
  host(152, "tunnel", INTEL, ["microsocks"]),
  host(153, "office", LENOVO, ["zabbix", "nmbd"]),
  host(154, "secure", DELL, ["nginxtls"]),
  host(155, "old-files", DELL, ["oldsamba"]),
  host(86, "everywhere", DELL, ["dropbear"], { filter: "answer" }),
];
