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

  constructor(code: ClientErrorCode, message: string, options: {
    readonly status?: number; readonly details?: unknown; readonly cause?: unknown;
  } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? 0;
    this.details = options.details ?? null;
  }
}
