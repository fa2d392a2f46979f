import * as z from "zod";
import { Id, parseDuration } from "../values.ts";

/** The nine error codes, each with its HTTP status. */
export const ERROR_STATUS = {
  BAD_REQUEST: 400, UNAUTHORIZED: 401, FORBIDDEN: 403, NOT_FOUND: 404, CONFLICT: 409, RATE_LIMITED: 429,
  INTERNAL_ERROR: 500, BAD_GATEWAY: 502, SERVICE_UNAVAILABLE: 503,
} as const;
/** A key of `ERROR_STATUS`. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** Every error's body. `details` of a BAD_REQUEST is `[{ path, message }]`. */
export const ErrorEnvelope = z.object({
  error: z.object({
    code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]])
      .describe("The error code. It is stable: programs should use it."),
    message: z.string().describe("What happened and what to do, for people. The text may change."),
    details: z.unknown().nullable().describe(
      "More about the error; null where there is no more. For BAD_REQUEST a list of `{ path, message }`, one for each wrong field.",
    ),
  }).describe("The error."),
});
export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>;

/** Every list's body. `next_cursor` is null on the last page. */
export function listEnvelope<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item).describe("The records of this page, in the order of the list."),
    meta: z.object({
      page: z.int().describe("The requested page, from 1."),
      per_page: z.int().describe("The most records on a page."),
      total: z.int().describe("The number of records on all pages."),
      next_cursor: z.string().nullable().describe("Send it as `cursor` to get the next page. Null on the last page."),
    }).describe("Where this page is in the list."),
  });
}

/** A list as a client reads it. */
export interface List<T> {
  readonly data: readonly T[];
  readonly meta: { readonly page: number; readonly per_page: number; readonly total: number; readonly next_cursor: string | null };
}

const CURSOR = "`meta.next_cursor` of the page before. It reads a list that changes to its end without gaps or repeats.";

/** `page` and `per_page` as query texts. */
export const PageQuery = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000).default(1).describe("The page, from 1. Ignored where a `cursor` is sent."),
  per_page: z.coerce.number().int().min(1).max(1000).default(100).describe("The most records on a page, 1 to 1000."),
  cursor: z.string().max(512).optional().describe(CURSOR),
});

/** The same of a list whose cursor is the id of the last row that was shown. */
export const IdPageQuery = PageQuery.extend({ cursor: Id.optional().describe(CURSOR) });

/** A boolean whose query text is `true` or `false`; any other text is refused. */
export const BooleanQuery = z.preprocess((text) => (text === "true" || text === "false" ? text === "true" : text), z.boolean());

/** Some of `values`, with commas between them, as a query text. */
export function listQuery<const V extends string>(values: readonly V[]) {
  const one = values.map((value) => value.replaceAll(/[^\w-]/g, String.raw`\$&`)).join("|");
  return z.string().regex(new RegExp(`^(?:${one})(?:,(?:${one}))*$`), `must be some of ${values.join(", ")}, with commas between them`)
    .transform((text) => text.split(",") as V[]);
}

const AnyOffset = z.iso.datetime({ offset: true });

/** A moment as a query says it: an ISO 8601 instant with `Z` or an offset, or how long ago: `90s 15m 24h 7d 2w`. */
const Moment = z.string().max(64).refine(
  (text) => parseDuration(text) !== null || AnyOffset.safeParse(text).success,
  "must be an ISO 8601 time, or how long ago as 90s, 15m, 24h, 7d or 2w",
);

const MOMENT_FORMS = "an ISO 8601 instant as `2026-11-20T15:37:57Z`, or how long ago as `90s`, `15m`, `24h`, `7d`, `2w`";

/** One end of a period. @param what What lies behind it or before it, as a sentence of the documents begins. */
export const momentQuery = (what: string) => Moment.optional().describe(`${what}: ${MOMENT_FORMS}.`);

/** `since` (from then on) and `until` (before then) of a list of what happened. `momentToInstant` makes instants of them. */
export const PeriodQuery = z.object({
  since: momentQuery("From this moment on"),
  until: Moment.optional().describe("Before this moment, written as `since`."),
});

/**
 * The instant that a `since` or `until` means, in the spelling of every stored time, so that texts compare as times do.
 * @param moment As `PeriodQuery` lets it through.
 * @param now Milliseconds since the epoch, which a duration counts back from; never before 1970.
 */
export function momentToInstant(moment: string, now: number): string {
  const ago = parseDuration(moment);
  return new Date(Math.max(0, ago === null ? Date.parse(moment) : now - ago)).toISOString();
}
