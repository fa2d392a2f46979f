import type { ServiceName } from "../services/names.ts";
import type { Persona, ServicePlace } from "./persona.ts";

/** One of the personas. */
export const PERSONA_NAMES = ["linux", "nas", "database", "printer", "switch", "camera", "windows"] as const;
/** One of `PERSONA_NAMES`. */
export type PersonaName = (typeof PERSONA_NAMES)[number];

/** A block of MAC addresses of who makes such things; virtual machines where these are what a site has most of. @see https://standards-oui.ieee.org */
export const MAKERS: Readonly<Record<PersonaName, string>> = {
  linux: "00:50:56", nas: "00:11:32", database: "00:50:56", printer: "3c:d9:2b", switch: "00:1b:54", camera: "c0:56:e3", windows: "00:15:5d",
};

const PORTS: Readonly<Record<Exclude<ServiceName, "banner" | "tarpit">, number>> = {
  ssh: 22, telnet: 23, ftp: 21, http: 80, https: 443, smtp: 25, pop3: 110, imap: 143, mysql: 3306, postgres: 5432, redis: 6379, memcached: 11_211, vnc: 5900, print: 9100,
  mongodb: 27_017, mssql: 1433, ldap: 389, git: 9418, mqtt: 1883, ipp: 631, proxy: 3128, snmp: 161, tftp: 69, ntp: 123, sip: 5060, smb2: 445, rdp: 3389, winrm: 5985,
};

const on = (...names: readonly (keyof typeof PORTS)[]): readonly ServicePlace[] => names.map((service) => ({ service, port: PORTS[service] }));

/** Debian 11, the last whose OpenSSH has no key exchange that a library of Node's lacks. */
const LINUX: Persona = {
  services: on("ssh", "ftp", "http", "smtp", "pop3", "imap"),
  ssh: "OpenSSH_8.4p1 Debian-5+deb11u3",
  telnet: { issue: "Debian GNU/Linux 11\r\n", prompt: "%h login: ", refused: "\r\nLogin incorrect\r\n" },
  ftp: { greeting: "(vsFTPd 3.0.3)", family: "vsftpd" },
  http: { server: "Apache/2.4.62 (Debian)", title: "Sign in", path: "/login" },
  smtp: "ESMTP Postfix (Debian/GNU)",
  pop3: "Dovecot (Debian) ready.",
  imap: "Dovecot (Debian) ready.",
  mysql: "5.5.5-10.5.29-MariaDB-0+deb11u1",
  postgres: 13,
  memcached: "1.6.9",
  mongodb: "4.4.29",
  proxy: "squid/4.13",
  ipp: "CUPS/2.3 IPP/2.1",
  snmp: {
    description: "Linux %h 5.10.0-33-amd64 #1 SMP Debian 5.10.226-1 (2024-10-03) x86_64", objectId: "1.3.6.1.4.1.8072.3.2.10", contact: "Me <me@example.org>", location: "Sitting on the Dock of the Bay", services: 72,
  },
  // Samba's.
  windows: [6, 1, 0],
  hasGuestShare: false,
  sip: "Asterisk PBX 16.28.0~dfsg-0+deb11u4",
  vnc: "003.008",
  banner: "220 %h ready",
};

/** What each persona says. The texts are those of common products, without their names where these are trademarks of one maker alone. */
export const PERSONAS: Readonly<Record<PersonaName, Persona>> = {
  linux: LINUX,
  database: { ...LINUX, services: on("ssh", "mysql", "postgres", "redis", "memcached") },
  nas: {
    ...LINUX,
    services: on("ssh", "ftp", "http", "https", "snmp"),
    ssh: "OpenSSH_8.2",
    hasGuestShare: true,
    telnet: { issue: "", prompt: "%h login: ", refused: "\r\nLogin incorrect\r\n" },
    ftp: { greeting: "%h FTP server ready.", family: "plain" },
    snmp: { ...LINUX.snmp, description: "Linux %h 4.4.302+ #72806 SMP Mon Jul 15 17:26:42 CST 2024 x86_64", contact: "admin@diskstation", location: "Unknown" },
    http: { server: "nginx", title: "%h - Network storage", path: "/webman/login" },
    banner: "%h",
  },
  printer: {
    ...LINUX,
    services: on("ftp", "telnet", "http", "https", "print", "snmp"),
    ssh: null,
    snmp: {
      description: "HP ETHERNET MULTI-ENVIRONMENT,ROM none,JETDIRECT,JD153,EEPROM JSI24050012,CIDATE 05/10/2019", objectId: "1.3.6.1.4.1.11.2.3.9.1", contact: "", location: "", services: 64,
    },
    telnet: { issue: "", prompt: "%h login: ", refused: "\r\nLogin incorrect\r\n" },
    ftp: { greeting: "%h Print Server Ready", family: "plain" },
    http: { server: "Virata-EmWeb/R6_2_1", title: "%h - Embedded Web Server", path: "/sign_in" },
  },
  switch: {
    ...LINUX,
    services: on("telnet", "http", "snmp"),
    ssh: null,
    snmp: {
      description: "Cisco IOS Software, C2960 Software (C2960-LANBASEK9-M), Version 15.0(2)SE11, RELEASE SOFTWARE (fc3)\r\nTechnical Support: http://www.cisco.com/techsupport\r\nCopyright (c) 1986-2017 by Cisco Systems, Inc.\r\nCompiled Sat 19-Aug-17 09:34 by prod_rel_team",
      objectId: "1.3.6.1.4.1.9.1.716", contact: "", location: "", services: 6,
    },
    telnet: { issue: "\r\n\r\nUser Access Verification\r\n\r\n", prompt: "Username: ", refused: "\r\n% Login invalid\r\n\r\n" },
    http: { server: "cisco-IOS", title: "%h", path: "/login" },
  },
  windows: {
    ...LINUX,
    services: on("http", "smb2", "rdp", "winrm"),
    ssh: null,
    windows: [10, 0, 17_763],
    ftp: { greeting: "Microsoft FTP Service", family: "plain" },
    http: { server: "Microsoft-IIS/10.0", title: "Sign in", path: "/RDWeb/Pages/en-US/login.aspx" },
    snmp: {
      description: "Hardware: Intel64 Family 6 Model 85 Stepping 7 AT/AT COMPATIBLE - Software: Windows Version 6.3 (Build 17763 Multiprocessor Free)", objectId: "1.3.6.1.4.1.311.1.1.3.1.2", contact: "", location: "", services: 76,
    },
  },
  camera: {
    ...LINUX,
    services: on("telnet", "http", "ftp"),
    ssh: null,
    telnet: { issue: "", prompt: "%h login: ", refused: "\r\nLogin incorrect\r\n" },
    ftp: { greeting: "%h FTP server ready.", family: "plain" },
    http: { server: "App-webs/", title: "%h - Live view", path: "/doc/page/login.asp" },
  },
};
