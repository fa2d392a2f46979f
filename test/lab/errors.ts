type LabErrorCode =
  | "not-root"
  | "not-up"
  | "not-ready"
  | "bad-id"
  | "bad-name"
  | "duplicate"
  | "unknown-host"
  | "busy"
  | "packages"
  | "postgres"
  | "command-failed";

/** What the lab cannot carry on from. */
export class LabError extends Error {
  override readonly name = "LabError";

  readonly code: LabErrorCode;

  constructor(code: LabErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
