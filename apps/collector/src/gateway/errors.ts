import { ERROR_STATUS, type ErrorCode, type ErrorEnvelope } from "@lanthorn/contract";

/** A refusal as the client is to read it: thrown anywhere in a request, answered by the gateway as the error envelope. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  readonly code: ErrorCode;

  readonly details: unknown;

  readonly headers: Readonly<Record<string, string>>;

  /** The code's own status, except where the decisions say another (413 for a body that is too large). */
  readonly status: number;

  /** An answer like others, and no failure of this collector, although its status is one of 5xx. */
  readonly isOrdinary: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      readonly details?: unknown; readonly headers?: Readonly<Record<string, string>>; readonly status?: number; readonly cause?: unknown;
      readonly isOrdinary?: boolean;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? null;
    this.headers = options.headers ?? {};
    this.status = options.status ?? ERROR_STATUS[code];
    this.isOrdinary = options.isOrdinary ?? false;
  }
}

/** 404: there is no such thing, or it is another tenant's, which is the same to the client. */
export function notFound(what: string): ApiError {
  return new ApiError("NOT_FOUND", `no such ${what}`);
}

/**
 * Asks nothing where no site is named.
 * @throws ApiError NOT_FOUND for a site that the tenant does not have.
 */
export async function requireSite(
  store: { siteExists(tenantId: string, siteId: string): Promise<boolean> }, tenantId: string, siteId: string | null | undefined,
): Promise<void> {
  if (siteId !== null && siteId !== undefined && !(await store.siteExists(tenantId, siteId))) throw notFound("site");
}

/** 403 with `details: { required }`: the scope, or what else is missing. */
export function forbidden(message: string, required: string): ApiError {
  return new ApiError("FORBIDDEN", message, { details: { required } });
}

/** 429 with `Retry-After`, in whole seconds and at least one. */
export function rateLimited(message: string, retryAfterMs: number): ApiError {
  return new ApiError("RATE_LIMITED", message, { headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) } });
}

/** The body that every error has. */
export function errorEnvelope(error: { readonly code: ErrorCode; readonly message: string; readonly details: unknown }): ErrorEnvelope {
  return { error: { code: error.code, message: error.message, details: error.details } };
}
