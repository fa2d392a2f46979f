/** What the operator can mend: no login, an unknown site, an unreadable file. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: "not-logged-in" | "bad-option" | "not-found" | "file";

  constructor(code: CliError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
