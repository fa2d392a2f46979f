import { MDNS_MODEL_RULES, MDNS_SERVICE_RULES, UPNP_DEVICE_RULES } from "./announced.ts";
import { BUILD_RULES } from "./builds.ts";
import type { Claim } from "./claim.ts";
import { DHCP_CLASS_RULES, HOSTNAME_RULES, PLATFORM_MODEL_RULES, TLS_SUBJECT_RULES } from "./clients.ts";
import {
  DNS_VERSION_RULES, FTP_RULES, IRC_RULES, MYSQL_RULES, SMB_SOFTWARE_RULES, SMB_SYSTEM_RULES, TELNET_RULES,
} from "./greetings.ts";
import { TITLE_RULES } from "./html-title.ts";
import { HTTP_SERVER_RULES, PLATFORM_RULES } from "./http-server.ts";
import { IMAP_RULES, POP3_RULES, SMTP_RULES } from "./mail.ts";
import { OUI_RULES } from "./oui.ts";
import { claimsOf, type Rule } from "./rule.ts";
import { SERVICE_RULES } from "./services.ts";
import { SNMP_DESCRIPTION_RULES, SNMP_OBJECT_RULES } from "./snmp.ts";
import { SSH_RULES } from "./ssh.ts";
import { SYSTEM_RULES } from "./systems.ts";

/** Every kind of answer that there are rules for. Of a table the first rule that matches speaks. */
export const ANSWER_RULES = {
  "ssh": SSH_RULES,
  "http-server": HTTP_SERVER_RULES,
  "http-title": TITLE_RULES,
  "http-realm": TITLE_RULES,
  "ftp": FTP_RULES,
  "smtp": SMTP_RULES,
  "imap": IMAP_RULES,
  "pop3": POP3_RULES,
  "telnet": TELNET_RULES,
  "irc": IRC_RULES,
  "mysql": MYSQL_RULES,
  "dns-version": DNS_VERSION_RULES,
  "smb-native-lm": SMB_SOFTWARE_RULES,
  "smb-native-os": SMB_SYSTEM_RULES,
  "snmp-description": SNMP_DESCRIPTION_RULES,
  "snmp-object": SNMP_OBJECT_RULES,
  "tls-subject": TLS_SUBJECT_RULES,
  "oui": OUI_RULES,
  "dhcp-class": DHCP_CLASS_RULES,
  "hostname": HOSTNAME_RULES,
  "mdns-model": MDNS_MODEL_RULES,
  "mdns-service": MDNS_SERVICE_RULES,
  "upnp-device": UPNP_DEVICE_RULES,
  "platform": PLATFORM_MODEL_RULES,
  "service": SERVICE_RULES,
  "system": SYSTEM_RULES,
} as const satisfies Readonly<Record<string, readonly Rule[]>>;
/** A key of `ANSWER_RULES`. It is also the source of the claims that its rules make. */
export type AnswerKind = keyof typeof ANSWER_RULES;

/** Answers in which daemons name the system that they were built for. */
const NAMES_PLATFORM: ReadonlySet<AnswerKind> = new Set(["ssh", "http-server", "ftp", "smtp", "mysql", "dns-version"]);

/** Answers in which daemons name who built them. */
const NAMES_BUILD: ReadonlySet<AnswerKind> = new Set([...NAMES_PLATFORM, "imap", "pop3", "telnet", "smb-native-lm"]);

/** Answers of which more than 255 letters are read: a screen of text, a list before the name, a server with all its modules, a page's title. */
const LONGER_TEXTS: Readonly<Partial<Record<AnswerKind, number>>> = {
  "telnet": 1024, "ftp": 1024, "smtp": 1024, "imap": 1024, "pop3": 1024, "http-server": 512, "http-title": 512, "tls-subject": 1024,
};

/** @returns What the answer says of the service and its device; nothing for an answer that no rule knows. */
export function readAnswer(kind: AnswerKind, text: string): readonly Claim[] {
  const options = { source: kind, maxText: LONGER_TEXTS[kind] };
  const claims = withMaker(claimsOf(ANSWER_RULES[kind], text, options));
  const said = new Set(claims.map((claim) => claim.field));
  return [
    ...claims,
    // Of a product that nobody knows, no build is known.
    ...(said.has("product") && NAMES_BUILD.has(kind) ? claimsOf(BUILD_RULES, text, options) : []),
    ...(NAMES_PLATFORM.has(kind) ? claimsOf(PLATFORM_RULES, text, options).filter((claim) => !said.has(claim.field)) : []),
  ];
}

/**
 * Who made a product that is the device itself, as a printer's own agent or a router's own page, made the device;
 * who made a program did not.
 */
function withMaker(claims: readonly Claim[]): readonly Claim[] {
  const said = new Map(claims.map((claim) => [claim.field, claim]));
  const vendor = said.get("vendor");
  const isDevice = !said.has("cpe") && !said.has("device_vendor") && said.get("os")?.value !== "Windows"
    && (said.has("device_type") || !said.has("product"));
  return vendor && isDevice ? [...claims, { ...vendor, field: "device_vendor" }] : claims;
}
