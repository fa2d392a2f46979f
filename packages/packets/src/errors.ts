/** A value that its protocol has no bytes for, given to an encoder: the caller's mistake, never the wire's. */
export class PacketsError extends Error {
  override readonly name = "PacketsError";

  readonly code: "unencodable";

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = "unencodable";
  }
}
