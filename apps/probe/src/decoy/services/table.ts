import { memcached } from "./databases/memcached.ts";
import { mongodb } from "./databases/mongodb.ts";
import { mssql } from "./databases/mssql.ts";
import { mysql } from "./databases/mysql.ts";
import { postgres } from "./databases/postgres.ts";
import { redis } from "./databases/redis.ts";
import { ftp } from "./ftp.ts";
import { http, https } from "./http.ts";
import { imap } from "./mail/imap.ts";
import { pop3 } from "./mail/pop3.ts";
import { smtp } from "./mail/smtp.ts";
import type { ServiceName, StreamServiceName } from "./names.ts";
import { git } from "./network/git.ts";
import { ipp } from "./network/ipp.ts";
import { ldap } from "./network/ldap.ts";
import { mqtt } from "./network/mqtt.ts";
import { proxy } from "./network/proxy.ts";
import { vnc } from "./screens/vnc.ts";
import type { Service } from "./service.ts";
import { banner, print, tarpit } from "./simple.ts";
import { ssh } from "./ssh/ssh.ts";
import { telnet } from "./telnet.ts";
import { rdp } from "./windows/rdp.ts";
import { smb2 } from "./smb/smb2.ts";
import { winrm } from "./windows/winrm.ts";

/** What serves each name. Those of TLS get the bytes inside. */
export const SERVICES: Readonly<Record<StreamServiceName, Service>> = {
  ssh, telnet, ftp, http, https, smtp, pop3, imap, mysql, postgres, redis, memcached, vnc, mongodb, mssql, ldap, git, mqtt, ipp, proxy,
  print, banner, tarpit, smb2, rdp, winrm,
};

/** Those that have a certificate. */
export const TLS_SERVICES: ReadonlySet<ServiceName> = new Set(["https", "rdp", "smtp", "pop3", "imap"]);
