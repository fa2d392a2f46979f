/** What the lab cannot carry on from. */
export class LabError extends Error {
  override readonly name = "LabError";

  readonly code: "not-root" | "not-up" | "bad-name" | "bad-id" | "duplicate" | "unknown-host" | "command-failed" | "packages" | "not-ready" | "busy";

  constructor(code: LabError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
