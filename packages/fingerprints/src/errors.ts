/** What this package cannot carry on from: data is missing (`data-unreadable`) or is not what it is to be (`data-invalid`). */
export class FingerprintsError extends Error {
  override readonly name = "FingerprintsError";

  readonly code: "data-unreadable" | "data-invalid";

  constructor(code: FingerprintsError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
