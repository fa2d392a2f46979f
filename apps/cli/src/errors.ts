/** What the operator can mend: no login, an unknown site, an unreadable file, a stream that the collector has ended. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: "not-logged-in" | "bad-option" | "not-found" | "file" | "ended";

  constructor(code: CliError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** OpenSSL's words for a certificate whose CA is not trusted here. */
const DISTRUST = /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|CERT_UNTRUSTED)/;

/** Whether a call failed because the other side's certificate is from a CA that is not trusted. */
export function isDistrust(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (DISTRUST.test(String((cause as NodeJS.ErrnoException).code))) return true;
  }
  return false;
}
