import { z } from "zod";

/** The nine error codes, each with its HTTP status. */
export const ERROR_STATUS = {
  BAD_REQUEST: 400, UNAUTHORIZED: 401, FORBIDDEN: 403, NOT_FOUND: 404, CONFLICT: 409, RATE_LIMITED: 429,
  INTERNAL_ERROR: 500, BAD_GATEWAY: 502, SERVICE_UNAVAILABLE: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

/** Every error's body. `details` of a BAD_REQUEST is `[{ path, message }]`. */
export const ErrorEnvelope = z.object({
  error: z.object({ code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]), message: z.string(), details: z.unknown().nullable() }),
});
export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>;

/** Every list's body. `next_cursor` is null on the last page. */
export function listEnvelope<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item),
    meta: z.object({ page: z.int(), per_page: z.int(), total: z.int(), next_cursor: z.string().nullable() }),
  });
}

/** A list as a client reads it. */
export interface List<T> {
  readonly data: readonly T[];
  readonly meta: { readonly page: number; readonly per_page: number; readonly total: number; readonly next_cursor: string | null };
}

/** `page` and `per_page` as query texts. */
export const PageQuery = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
  per_page: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.string().max(512).optional(),
});

/** `true` or `false` as a query text. */
export const BooleanQuery = z.enum(["true", "false"]).transform((text) => text === "true");
