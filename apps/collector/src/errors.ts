/** What the collector cannot carry on from. `code` is stable; the message names the thing and what to do. */
export class CollectorError extends Error {
  override readonly name = "CollectorError";

  readonly code:
    | "config-invalid" | "data-dir-unusable" | "database-unreadable" | "database-newer" | "database-unreachable" | "database-unsuitable"
    | "listen-failed" | "certificate-unusable" | "token-key-unusable" | "admin-refused" | "broker-unreachable" | "secret-unreadable"
    | "move-refused" | "backup-failed" | "backup-unreadable" | "backup-key-unusable" | "backup-untrusted" | "restore-refused"
    | "reaction-ring" | "bundle-refused" | "capture-damaged" | "cve-import-failed" | "cve-match-failed" | "cve-match-interrupted" | "cve-search-busy" | "cve-search-failed"
    | "cve-database-missing" | "cve-match-refused" | "ids-rules-busy" | "ids-rules-failed"
    | "dns-lists-busy" | "dns-lists-failed" | "countries-busy" | "countries-failed";

  constructor(code: CollectorError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
