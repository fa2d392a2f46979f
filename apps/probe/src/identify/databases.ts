import { join } from "node:path";
import type { Claim } from "@lanthorn/fingerprints";
import { createRecogDatabase, readBounded, type RecogDatabase, readRecogFile, recogClaims } from "@lanthorn/fingerprints/recog";
import { describeError } from "@lanthorn/runtime";
import type { FindingText, TextKind } from "./finding.ts";

/** Which of Recog's files knows which kind of text, and what of the text it does not want to see. */
const FILES: Readonly<Partial<Record<TextKind, { readonly name: string; readonly without?: RegExp }>>> = {
  "ssh": { name: "ssh_banners" }, "http-server": { name: "http_servers" }, "upnp-server": { name: "http_servers" },
  "http-title": { name: "html_title" }, "http-cookie": { name: "http_cookies" },
  "ftp": { name: "ftp_banners" }, "smtp": { name: "smtp_banners" }, "imap": { name: "imap_banners", without: /^\* OK / },
  "pop3": { name: "pop_banners", without: /^\+OK / }, "nntp": { name: "nntp_banners" }, "telnet": { name: "telnet_banners" },
  "mysql": { name: "mysql_banners" }, "dns-version": { name: "dns_versionbind" },
  "snmp-description": { name: "snmp_sysdescr" }, "snmp-object": { name: "snmp_sysobjid" }, "favicon-md5": { name: "favicons" },
  "tls-subject": { name: "x509_subjects" }, "tls-issuer": { name: "x509_issuers" }, "ntp-variables": { name: "ntp_banners" },
  "smb-native-os": { name: "smb_native_os" }, "smb-native-lm": { name: "smb_native_lm" }, "sip-server": { name: "sip_banners" },
  "rtsp-server": { name: "rtsp_servers" }, "ldap-root": { name: "ldap_searchresult" },
};

/** What is asked of the databases: a finding's texts, and what our own rules have read in them. */
export interface DatabaseQuery {
  readonly texts: readonly FindingText[];
  readonly claims: readonly Pick<Claim, "field" | "value" | "source">[];
  /** What our own rules call the product; empty where they know none. */
  readonly product: string;
}

/** Databases of fingerprints, beside our own rules. Reading one takes some 100 ms, so they belong in a thread of their own. */
export interface FingerprintDatabases {
  /** @returns What they say of the texts; nothing where there are none. Does not throw. */
  consult(query: DatabaseQuery): readonly Claim[];
}

interface Opened {
  readonly version: string | null;
  readonly folder: string | null;
  readonly databases: Map<string, RecogDatabase | null>;
  /** Databases of which it was said that a look-up was cut short. */
  readonly slow: Set<string>;
}

/**
 * Reads a database when the first text of its kind comes, and all anew when another version holds.
 * @param deps.version Which version holds, read for each query: an update and a rollback take effect in a scan that goes on.
 * @param deps.folder Where whole databases are; null where there are none.
 * @param deps.warn Told once of each database that cannot be read or used, and of each that takes too long.
 */
export function createFingerprintDatabases(deps: {
  readonly version: () => string | null;
  readonly folder: () => string | null;
  readonly warn: (about: { readonly name: string; readonly reason: string }, message: string) => void;
}): FingerprintDatabases {
  let open: Opened | null = null;

  const read = (folder: string, name: string): RecogDatabase | null => {
    try {
      const file = readRecogFile(readBounded(join(folder, `${name}.xml`)).toString("utf8"), { name, readExample: () => null });
      if (file.ok) return createRecogDatabase(file.file);
      deps.warn({ name, reason: file.reason }, "a fingerprint database cannot be used");
    } catch (error) {
      // A folder need not have all of them.
      if ((error as { readonly code?: unknown }).code !== "ENOENT") {
        deps.warn({ name, reason: describeError(error) }, "a fingerprint database cannot be read");
      }
    }
    return null;
  };
  const opened = (): Opened => {
    const version = deps.version();
    if (open?.version !== version) open = null;
    return (open ??= { version, folder: deps.folder(), databases: new Map(), slow: new Set() });
  };
  const databaseOf = ({ folder, databases }: Opened, name: string): RecogDatabase | null => {
    if (folder === null) return null;
    let database = databases.get(name);
    if (database === undefined) databases.set(name, (database = read(folder, name)));
    return database;
  };
  const onCutShort = ({ slow }: Opened, name: string) => {
    if (slow.has(name)) return;
    slow.add(name);
    const reason = "its patterns need too many steps: the rest was not tried, for this text and similar ones";
    deps.warn({ name, reason }, "a fingerprint database is too slow");
  };
  /** Where our own rules have read the same text otherwise, they are heard: two parts of one witness should not contradict each other. */
  const claimsOf = ({ kind, text }: FindingText, { claims, product }: DatabaseQuery): readonly Claim[] => {
    const file = FILES[kind];
    if (!file) return [];
    const now = opened();
    const database = databaseOf(now, file.name);
    const match = database?.match(file.without ? text.replace(file.without, "") : text, () => onCutShort(now, file.name));
    if (!database || !match) return [];
    const own = new Map(claims.filter(({ source }) => source === kind).map(({ field, value }) => [field, value.toLowerCase()]));
    const said = recogClaims(match, kind, { preference: database.preference, product });
    return said.filter(({ field, value }) => (own.get(field) ?? value.toLowerCase()) === value.toLowerCase());
  };
  return { consult: (query) => query.texts.flatMap((text) => claimsOf(text, query)) };
}
