/** What this package cannot carry on from. */
export class RuntimeError extends Error {
  override readonly name = "RuntimeError";

  readonly code: "config-unreadable" | "config-invalid";

  constructor(code: RuntimeError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A whole chain of causes in one line, outermost first. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let cause: unknown = error; cause !== undefined && cause !== null && parts.length < 8; cause = cause instanceof Error
    ? cause.cause
    : undefined) {
    parts.push(cause instanceof Error ? cause.message : JSON.stringify(cause));
  }
  return parts.join(": ");
}
