import type { Rule } from "./rule.ts";

/** An FTP server's greeting without its codes. @see RFC 959 section 4.2 */
export const FTP_RULES: readonly Rule[] = [
  {
    pattern: /^\(vsFTPd (\d[\w.]*)\)/,
    says: { product: "vsftpd", vendor: "vsftpd", version: "$1", cpe: "a:vsftpd_project:vsftpd:$1" },
    examples: [["(vsFTPd 3.0.3)", { product: "vsftpd", vendor: "vsftpd", version: "3.0.3", cpe: "cpe:2.3:a:vsftpd_project:vsftpd:3.0.3:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^ProFTPD(?: (\d[\w.]*))? Server/,
    says: { product: "ProFTPD", vendor: "ProFTPD", version: "$1", cpe: "a:proftpd:proftpd:$1" },
    examples: [
      ["ProFTPD Server (Debian) [10.0.0.1]", { product: "ProFTPD", vendor: "ProFTPD", cpe: "cpe:2.3:a:proftpd:proftpd:*:*:*:*:*:*:*:*" }],
      ["ProFTPD 1.3.8 Server ready.", { product: "ProFTPD", vendor: "ProFTPD", version: "1.3.8", cpe: "cpe:2.3:a:proftpd:proftpd:1.3.8:*:*:*:*:*:*:*" }],
    ],
  },
  {
    pattern: /Welcome to Pure-FTPd(?: (\d[\w.]*))?/,
    says: { product: "Pure-FTPd", vendor: "PureFTPd", version: "$1", cpe: "a:pureftpd:pure-ftpd:$1" },
    examples: [["---------- Welcome to Pure-FTPd [privsep] [TLS] ----------", { product: "Pure-FTPd", vendor: "PureFTPd", cpe: "cpe:2.3:a:pureftpd:pure-ftpd:*:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^FileZilla Server(?: version)? ?v?(\d[\w.]*)?/,
    says: { product: "FileZilla ftpd", vendor: "FileZilla", version: "$1", os: "Windows" },
    examples: [["FileZilla Server 1.8.1", { product: "FileZilla ftpd", vendor: "FileZilla", version: "1.8.1", os: "Windows" }]],
  },
  {
    pattern: /^Microsoft FTP Service/,
    says: { product: "Microsoft ftpd", vendor: "Microsoft", os: "Windows", os_cpe: "o:microsoft:windows" },
    examples: [["Microsoft FTP Service", { product: "Microsoft ftpd", vendor: "Microsoft", os: "Windows", os_cpe: "cpe:2.3:o:microsoft:windows:*:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^pyftpdlib (\d[\w.]*)/,
    says: { product: "pyftpdlib", vendor: "pyftpdlib", version: "$1", cpe: "a:pyftpdlib_project:pyftpdlib:$1" },
    examples: [["pyftpdlib 1.5.7 ready.", { product: "pyftpdlib", vendor: "pyftpdlib", version: "1.5.7", cpe: "cpe:2.3:a:pyftpdlib_project:pyftpdlib:1.5.7:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /FTP server \((?:GNU )?inetutils (\d[\w.]*)\)/,
    says: { product: "GNU Inetutils FTPd", vendor: "GNU", version: "$1", cpe: "a:gnu:inetutils:$1" },
    examples: [["lab FTP server (GNU inetutils 2.4) ready.", { product: "GNU Inetutils FTPd", vendor: "GNU", version: "2.4", cpe: "cpe:2.3:a:gnu:inetutils:2.4:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /\bMikroTik FTP server \(MikroTik (\d[\w.]*)\)/,
    says: { product: "MikroTik router ftpd", vendor: "MikroTik", version: "$1", os: "RouterOS", os_version: "$1", os_cpe: "o:mikrotik:routeros:$1", device_type: "router" },
    examples: [["gw FTP server MikroTik FTP server (MikroTik 6.49.10) ready", {
      product: "MikroTik router ftpd", vendor: "MikroTik", version: "6.49.10", os: "RouterOS", os_version: "6.49.10", os_cpe: "cpe:2.3:o:mikrotik:routeros:6.49.10:*:*:*:*:*:*:*", device_type: "router",
    }]],
  },
];

/** What a Telnet server shows before it asks for a name, without its commands. */
export const TELNET_RULES: readonly Rule[] = [
  {
    pattern: /^[ \t]{0,40}(Debian|Ubuntu)(?: GNU\/Linux)? (\d[\w.]*)/m,
    says: { os: "$1", os_version: "$2" },
    examples: [["Debian GNU/Linux 12\r\nlab login: ", { os: "Debian", os_version: "12" }]],
  },
  {
    pattern: /User Access Verification/,
    says: { product: "Cisco router telnetd", vendor: "Cisco", os: "Cisco IOS", os_cpe: "o:cisco:ios" },
    confidence: 0.8,
    examples: [["\r\n\r\nUser Access Verification\r\n\r\nUsername: ", { product: "Cisco router telnetd", vendor: "Cisco", os: "Cisco IOS", os_cpe: "cpe:2.3:o:cisco:ios:*:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /MikroTik v?(\d[\w.]*)/,
    says: { product: "MikroTik telnetd", vendor: "MikroTik", os: "RouterOS", os_version: "$1", device_type: "router" },
    examples: [["MikroTik v6.49.10 (long-term)\r\nLogin: ", { product: "MikroTik telnetd", vendor: "MikroTik", os: "RouterOS", os_version: "6.49.10", device_type: "router" }]],
  },
  {
    pattern: /BusyBox v(\d[\w.]*)/,
    says: { product: "BusyBox telnetd", vendor: "BusyBox", version: "$1", cpe: "a:busybox:busybox:$1", os: "Linux" },
    examples: [["BusyBox v1.35.0 (Debian) built-in shell", { product: "BusyBox telnetd", vendor: "BusyBox", version: "1.35.0", cpe: "cpe:2.3:a:busybox:busybox:1.35.0:*:*:*:*:*:*:*", os: "Linux" }]],
  },
];

/** The greeting of an IRC server's numeric 002, 004 or 351. @see RFC 2812 section 5.1 */
export const IRC_RULES: readonly Rule[] = [
  {
    pattern: /\bngircd-(\d[\w.]*)/,
    says: { product: "ngircd", vendor: "Barton", version: "$1", cpe: "a:barton:ngircd:$1" },
    examples: [["Your host is irc.lab.test, running version ngircd-26.1 (x86_64/pc/linux-gnu)", { product: "ngircd", vendor: "Barton", version: "26.1", cpe: "cpe:2.3:a:barton:ngircd:26.1:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /\bInspIRCd-(\d[\w.]*\w)/,
    says: { product: "InspIRCd", vendor: "InspIRCd", version: "$1", cpe: "a:inspircd:inspircd:$1" },
    examples: [["irc InspIRCd-3.15.0. irc", { product: "InspIRCd", vendor: "InspIRCd", version: "3.15.0", cpe: "cpe:2.3:a:inspircd:inspircd:3.15.0:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /\bUnrealIRCd-(\d[\w.]*)/,
    says: { product: "UnrealIRCd", vendor: "UnrealIRCd", version: "$1", cpe: "a:unrealircd:unrealircd:$1" },
    examples: [["irc UnrealIRCd-6.1.2 iowr", { product: "UnrealIRCd", vendor: "UnrealIRCd", version: "6.1.2", cpe: "cpe:2.3:a:unrealircd:unrealircd:6.1.2:*:*:*:*:*:*:*" }]],
  },
];

/** What a MySQL server calls its version. */
export const MYSQL_RULES: readonly Rule[] = [
  {
    pattern: /^(?:5\.5\.5-)?(\d+\.\d+\.\d+)-MariaDB/,
    says: { product: "MariaDB", vendor: "MariaDB", version: "$1", cpe: "a:mariadb:mariadb:$1" },
    examples: [
      ["5.5.5-10.11.6-MariaDB-0+deb12u1", { product: "MariaDB", vendor: "MariaDB", version: "10.11.6", cpe: "cpe:2.3:a:mariadb:mariadb:10.11.6:*:*:*:*:*:*:*" }],
      ["11.8.3-MariaDB-0+deb13u1 from Debian", { product: "MariaDB", vendor: "MariaDB", version: "11.8.3", cpe: "cpe:2.3:a:mariadb:mariadb:11.8.3:*:*:*:*:*:*:*" }],
    ],
  },
  {
    pattern: /^(\d+\.\d+\.\d+)(?:-|$)/,
    says: { product: "MySQL", vendor: "Oracle", version: "$1", cpe: "a:oracle:mysql:$1" },
    examples: [["8.0.36-0ubuntu0.22.04.1", { product: "MySQL", vendor: "Oracle", version: "8.0.36", cpe: "cpe:2.3:a:oracle:mysql:8.0.36:*:*:*:*:*:*:*" }]],
  },
];

/** The answer to `version.bind`. @see RFC 4892 section 2 */
export const DNS_VERSION_RULES: readonly Rule[] = [
  {
    pattern: /^dnsmasq-(\d[\w.]*)/,
    says: { product: "dnsmasq", vendor: "thekelleys", version: "$1", cpe: "a:thekelleys:dnsmasq:$1" },
    examples: [["dnsmasq-2.90", { product: "dnsmasq", vendor: "thekelleys", version: "2.90", cpe: "cpe:2.3:a:thekelleys:dnsmasq:2.90:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^(?:BIND )?(9\.\d+\.\d+)(?:-([\w.]+))?/,
    says: { product: "ISC BIND", vendor: "ISC", version: "$1", cpe: "a:isc:bind:$1" },
    examples: [["9.18.28-1~deb12u2-Debian", { product: "ISC BIND", vendor: "ISC", version: "9.18.28", cpe: "cpe:2.3:a:isc:bind:9.18.28:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^unbound (\d[\w.]*)/,
    says: { product: "Unbound", vendor: "NLnet Labs", version: "$1", cpe: "a:nlnetlabs:unbound:$1" },
    examples: [["unbound 1.17.1", { product: "Unbound", vendor: "NLnet Labs", version: "1.17.1", cpe: "cpe:2.3:a:nlnetlabs:unbound:1.17.1:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^PowerDNS Recursor (\d[\w.]*)/,
    says: { product: "PowerDNS Recursor", vendor: "PowerDNS", version: "$1", cpe: "a:powerdns:recursor:$1" },
    examples: [["PowerDNS Recursor 4.8.8 (built Apr 1 2024)", {
      product: "PowerDNS Recursor", vendor: "PowerDNS", version: "4.8.8", cpe: "cpe:2.3:a:powerdns:recursor:4.8.8:*:*:*:*:*:*:*",
    }]],
  },
  {
    pattern: /^PowerDNS Authoritative Server (\d[\w.]*)/,
    says: { product: "PowerDNS", vendor: "PowerDNS", version: "$1", cpe: "a:powerdns:authoritative:$1" },
    examples: [["PowerDNS Authoritative Server 4.7.3 (built Jan 1 2023)", { product: "PowerDNS", vendor: "PowerDNS", version: "4.7.3", cpe: "cpe:2.3:a:powerdns:authoritative:4.7.3:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^NSD (\d[\w.]*)/,
    says: { product: "NSD", vendor: "NLnet Labs", version: "$1", cpe: "a:nlnetlabs:nsd:$1" },
    examples: [["NSD 4.6.1", { product: "NSD", vendor: "NLnet Labs", version: "4.6.1", cpe: "cpe:2.3:a:nlnetlabs:nsd:4.6.1:*:*:*:*:*:*:*" }]],
  },
];

/** What an SMB 1 server calls its software. @see MS-SMB 2.2.4.6.2, NativeLanMan */
export const SMB_SOFTWARE_RULES: readonly Rule[] = [
  {
    pattern: /^Samba(?: (\d[\d.]{0,30}\d))?/,
    says: { product: "Samba smbd", vendor: "Samba", version: "$1", cpe: "a:samba:samba:$1" },
    examples: [
      ["Samba 4.17.12-Debian", { product: "Samba smbd", vendor: "Samba", version: "4.17.12", cpe: "cpe:2.3:a:samba:samba:4.17.12:*:*:*:*:*:*:*" }],
      ["Samba", { product: "Samba smbd", vendor: "Samba", cpe: "cpe:2.3:a:samba:samba:*:*:*:*:*:*:*:*" }],
    ],
  },
];

/** What an SMB 1 server calls its system: with edition and build, where it is Windows itself. @see MS-SMB 2.2.4.6.2, NativeOS */
export const SMB_SYSTEM_RULES: readonly Rule[] = [
  {
    pattern: /^Windows Server (?:\(R\) )?(\d{4}(?: R2)?) (\w{1,32}(?: \w{1,32})?) (1[0-9]{4}|2\d{4})$/,
    says: { os: "Windows Server $1", os_edition: "$2", os_version: "10.0.$3", os_cpe: "o:microsoft:windows_server_$1:10.0.$3" },
    examples: [["Windows Server 2016 Standard 14393", {
      os: "Windows Server 2016", os_edition: "Standard", os_version: "10.0.14393", os_cpe: "cpe:2.3:o:microsoft:windows_server_2016:10.0.14393:*:*:*:*:*:*:*",
    }]],
  },
  {
    pattern: /^Windows Server (?:\(R\) )?(\d{4}(?: R2)?) (\w{1,32}(?: \w{1,32})?) (\d{4})(?: Service Pack \d)?$/,
    says: { os: "Windows Server $1", os_edition: "$2", os_version: "$3", os_cpe: "o:microsoft:windows_server_$1" },
    examples: [["Windows Server 2008 R2 Standard 7601 Service Pack 1", {
      os: "Windows Server 2008 R2", os_edition: "Standard", os_version: "7601", os_cpe: "cpe:2.3:o:microsoft:windows_server_2008_r2:*:*:*:*:*:*:*:*",
    }]],
  },
  {
    pattern: /^Windows (7|8|8\.1|10|11) (\w{1,32}) (\d{4,5})(?: Service Pack \d)?$/,
    says: { os: "Windows $1", os_edition: "$2", os_version: "$3", os_cpe: "o:microsoft:windows_$1" },
    examples: [["Windows 7 Professional 7601 Service Pack 1", {
      os: "Windows 7", os_edition: "Professional", os_version: "7601", os_cpe: "cpe:2.3:o:microsoft:windows_7:*:*:*:*:*:*:*:*",
    }]],
  },
];
