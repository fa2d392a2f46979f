/** Why a feed could not be fetched or used. */
export type FeedFailureCode =
  | "unreachable" | "refused" | "redirects" | "status" | "rate-limited" | "stalled" | "truncated" | "too-large" | "bomb" | "wrong-sum"
  | "malformed" | "too-few" | "shrunken" | "fewer-configurations" | "missing" | "disk" | "import" | "stopped";

/** A feed's own failure: the others go on. The message says it to people, without what may be secret in a URL. */
export class FeedFailure extends Error {
  override readonly name = "FeedFailure";
  readonly code: FeedFailureCode;
  /** The source's `Retry-After`, in milliseconds; null where it gave none. */
  readonly retryAfterMs: number | null;

  constructor(code: FeedFailureCode, message: string, options: ErrorOptions & { readonly retryAfterMs?: number | null } = {}) {
    super(message, options);
    this.code = code;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

const PASSING: ReadonlySet<FeedFailureCode> = new Set(["unreachable", "rate-limited", "stalled", "truncated"]);

/** Whether trying again soon may help. */
export function isPassing(error: unknown): error is FeedFailure {
  return error instanceof FeedFailure && PASSING.has(error.code);
}

/** Whatever was thrown as a failure of a feed. */
export function toFailure(error: unknown): FeedFailure {
  if (error instanceof FeedFailure) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  const isDisk = ["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EIO", "EFBIG"].includes(code);
  return isDisk ? new FeedFailure("disk", `a file cannot be written: ${code}`, { cause: error }) : new FeedFailure("import", message, { cause: error });
}
