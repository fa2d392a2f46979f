/** What this package cannot carry on from: data that came with it is missing or is not what it was. */
export class FingerprintsError extends Error {
  override readonly name = "FingerprintsError";

  readonly code: "data-unreadable";

  constructor(code: FingerprintsError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
