import type { ServiceName } from "../services/names.ts";
import type { Persona, ServicePlace } from "./persona.ts";

/** One of the personas. */
export const PERSONA_NAMES = ["linux", "nas", "database", "printer", "switch", "camera"] as const;
/** One of `PERSONA_NAMES`. */
export type PersonaName = (typeof PERSONA_NAMES)[number];

const PORTS: Readonly<Record<Exclude<ServiceName, "banner" | "tarpit">, number>> = {
  ssh: 22, telnet: 23, ftp: 21, http: 80, https: 443, smtp: 25, pop3: 110, imap: 143, mysql: 3306, postgres: 5432, redis: 6379, memcached: 11_211, vnc: 5900, print: 9100,
  mongodb: 27_017, mssql: 1433, ldap: 389, git: 9418, mqtt: 1883, ipp: 631, proxy: 3128,
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
  vnc: "003.008",
  banner: "220 %h ready",
};

/** What each persona says. The texts are those of common products, without their names where these are trademarks of one maker alone. */
export const PERSONAS: Readonly<Record<PersonaName, Persona>> = {
  linux: LINUX,
  database: { ...LINUX, services: on("ssh", "mysql", "postgres", "redis", "memcached") },
  nas: {
    ...LINUX,
    services: on("ssh", "ftp", "http", "https"),
    ssh: "OpenSSH_8.2",
    telnet: { issue: "", prompt: "%h login: ", refused: "\r\nLogin incorrect\r\n" },
    ftp: { greeting: "%h FTP server ready.", family: "plain" },
    http: { server: "nginx", title: "%h - Network storage", path: "/webman/login" },
    banner: "%h",
  },
  printer: {
    ...LINUX,
    services: on("ftp", "telnet", "http", "https", "print"),
    ssh: null,
    telnet: { issue: "", prompt: "%h login: ", refused: "\r\nLogin incorrect\r\n" },
    ftp: { greeting: "%h Print Server Ready", family: "plain" },
    http: { server: "Virata-EmWeb/R6_2_1", title: "%h - Embedded Web Server", path: "/sign_in" },
  },
  switch: {
    ...LINUX,
    services: on("telnet", "http"),
    ssh: null,
    telnet: { issue: "\r\n\r\nUser Access Verification\r\n\r\n", prompt: "Username: ", refused: "\r\n% Login invalid\r\n\r\n" },
    http: { server: "cisco-IOS", title: "%h", path: "/login" },
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
