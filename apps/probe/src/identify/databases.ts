import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Claim } from "@lanthorn/fingerprints";
import { createRecogDatabase, type RecogDatabase, readRecogFile, recogClaims } from "@lanthorn/fingerprints/recog";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { type ServiceFinding, type TextKind, withClaims } from "./finding.ts";

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

/** Databases of fingerprints, beside our own rules. */
export interface FingerprintDatabases {
  /** @returns The finding with what the databases say of its texts, too; as it was where there is none. Does not throw. */
  consult(finding: ServiceFinding): ServiceFinding;
  close(): void;
}

interface Opened {
  readonly version: string | null;
  readonly folder: string | null;
  readonly databases: Map<string, RecogDatabase | null>;
}

/** A scan is over by then; the next one reads them again. They are megabytes, and the quiet daemon has no use for them. */
const KEPT_MS = 30_000;

/**
 * Reads a database when the first text of its kind comes, and lets go of all when none has come for a while, or when another version holds.
 * @param deps.version Which version holds, asked for each finding: an update and a rollback take effect in a scan that goes on.
 * @param deps.folder Where whole databases are; null where there are none. Asked anew after they were let go.
 */
export function createFingerprintDatabases(deps: {
  readonly version: () => string | null;
  readonly folder: () => string | null;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "warn">;
}): FingerprintDatabases {
  let open: Opened | null = null;
  let cancel = () => {};

  const read = (folder: string, name: string): RecogDatabase | null => {
    try {
      const file = readRecogFile(readFileSync(join(folder, `${name}.xml`), "utf8"), { name, readExample: () => null });
      if (file.ok) return createRecogDatabase(file.file);
      deps.log.warn({ name, reason: file.reason }, "a database of fingerprints cannot be used");
    } catch (error) {
      // A folder need not have all of them.
      if ((error as { readonly code?: unknown }).code !== "ENOENT") {
        deps.log.warn({ name, reason: describeError(error) }, "a database of fingerprints cannot be read");
      }
    }
    return null;
  };
  const databaseOf = (name: string): RecogDatabase | null => {
    open ??= { version: deps.version(), folder: deps.folder(), databases: new Map() };
    const { folder, databases } = open;
    if (folder === null) return null;
    let database = databases.get(name);
    if (database === undefined) databases.set(name, (database = read(folder, name)));
    return database;
  };
  /** Where our own rules have read the same text otherwise, they are heard: two parts of one witness should not contradict each other. */
  const claimsOf = (kind: TextKind, text: string, { claims, verdicts }: ServiceFinding): readonly Claim[] => {
    const file = FILES[kind];
    const database = file && databaseOf(file.name);
    const match = database?.match(file?.without ? text.replace(file.without, "") : text);
    if (!database || !match) return [];
    const own = new Map(claims.filter(({ source }) => source === kind).map(({ field, value }) => [field, value.toLowerCase()]));
    const said = recogClaims(match, kind, { preference: database.preference, product: verdicts.product?.value ?? "" });
    return said.filter(({ field, value }) => (own.get(field) ?? value.toLowerCase()) === value.toLowerCase());
  };
  return {
    consult(finding) {
      cancel();
      cancel = deps.clock.after(KEPT_MS, () => {
        open = null;
      });
      if (open && open.version !== deps.version()) open = null;
      return withClaims(finding, finding.texts.flatMap(({ kind, text }) => claimsOf(kind, text, finding)));
    },
    close() {
      cancel();
      open = null;
    },
  };
}
