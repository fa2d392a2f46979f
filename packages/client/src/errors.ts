import type { ErrorCode } from "@lanthorn/contract";

/** Why a call did not give what was asked for: the collector's own refusal, or one that this side saw. */
export type ClientErrorCode = ErrorCode | "unreachable" | "not-an-answer";

/** A refused or failed call. `details` is what the collector's error envelope says. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: ClientErrorCode;
  /** HTTP status; 0 where no answer came. */
  readonly status: number;
  readonly details: unknown;
  /** By which the collector's log names the request; null where no answer came. */
  readonly requestId: string | null;
  /** After how many seconds the collector takes requests again; null where it did not say. */
  readonly retryAfterSeconds: number | null;

  constructor(code: ClientErrorCode, message: string, options: {
    readonly status?: number; readonly details?: unknown; readonly cause?: unknown;
    readonly requestId?: string | null; readonly retryAfterSeconds?: number | null;
  } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? 0;
    this.details = options.details ?? null;
    this.requestId = options.requestId ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}
