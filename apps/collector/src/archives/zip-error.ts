/** Why an archive cannot be read. The message says it to people, as the end of a sentence. */
export class ZipError extends Error {
  override readonly name = "ZipError";
  readonly code: "truncated" | "malformed" | "too-large" | "bomb" | "unsupported";

  constructor(code: ZipError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** @returns The failure of an archive that contradicts itself. */
export function damagedZip(cause?: unknown): ZipError {
  return new ZipError("malformed", "its ZIP archive is damaged", { cause });
}
