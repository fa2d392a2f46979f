import { lines } from "./lines.ts";
import type { ServiceDaemonName } from "./service-hosts.ts";
import { SERVICE_STARTS, type ServiceStart } from "./service-starts.ts";

/** Eight bytes of a password file of VNC; which password they stand for says nobody. */
const VNC_PASSWORD = "\\327\\245\\024\\330\\305\\126\\252\\336";

/** Of the schema that Debian loads. @see RFC 4519 section 2.4 */
const DOMAIN_COMPONENT = "attributetype ( 0.9.2342.19200300.100.1.25 NAME 'dc' EQUALITY caseIgnoreIA5Match SUBSTR caseIgnoreIA5SubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.26 SINGLE-VALUE )\n";

/** For sshd: as Debian's sshd_config, with the algorithms of OpenSSH 8.4. */
export const GUARDED_SSHD: readonly string[] = ["KbdInteractiveAuthentication no", "HostKeyAlgorithms +ssh-rsa", "KexAlgorithms -sntrup761x25519-*,mlkem768x25519-*"];

/** Another line before or after those of the plain daemon's one file. */
function withLine(daemon: ServiceDaemonName, file: string, line: string): ServiceStart {
  const start = SERVICE_STARTS[daemon];
  return { ...start, files: { ...start.files, [file]: `${line}\n${start.files?.[file] ?? ""}` } };
}

/** How daemons of a host with `isGuarded` start, where that is not how all others do. */
export const GUARDED_STARTS: Readonly<Partial<Record<ServiceDaemonName, ServiceStart>>> = {
  // As conf-available/security.conf of Debian.
  apache: withLine("apache", "apache.conf", "TraceEnable Off"),
  dovecot: withLine("dovecot", "dovecot.conf", "disable_plaintext_auth = no"),
  redis: { command: [...SERVICE_STARTS.redis.command, "--requirepass", "lab"] },
  mosquitto: { ...SERVICE_STARTS.mosquitto, files: { "mosquitto.conf": lines("listener 1883 0.0.0.0", "allow_anonymous false", "user root") } },
  // The suffix of a machine without a domain; and without libsasl2-modules, which slapd does not depend on.
  slapd: {
    ...SERVICE_STARTS.slapd, command: ["/usr/bin/env", "SASL_PATH=/run/no-sasl", ...SERVICE_STARTS.slapd.command], before: [...SERVICE_STARTS.slapd.before ?? [], "mkdir -p /run/no-sasl"],
    files: { "slapd.conf": DOMAIN_COMPONENT + (SERVICE_STARTS.slapd.files?.["slapd.conf"] ?? "").replace("cn=lab", "dc=nodomain") },
  },
  // As Debian's ntp.conf, and its own clock at once in place of servers.
  ntpsec: { ...SERVICE_STARTS.ntpsec, files: { "ntp.conf": lines("server 127.127.1.0 minpoll 3 maxpoll 3", "tos orphanwait 1", "restrict default kod nomodify nopeer noquery limited") } },
  vnc: {
    before: [...SERVICE_STARTS.vnc.before ?? [], `printf '${VNC_PASSWORD}' > /run/vnc-password`],
    command: SERVICE_STARTS.vnc.command.flatMap((word) => (word === "None" ? ["VncAuth", "-PasswordFile", "/run/vnc-password"] : [word])),
  },
};
