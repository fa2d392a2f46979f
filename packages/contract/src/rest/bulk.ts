import * as z from "zod";
import { Id } from "../values.ts";

/** The most records that one bulk change is of: it is to end within a request's time limit. */
export const MAX_BULK = 10_000;
const MAX_BULK_IDS = 1000;

/**
 * A change of many records: all that a text in the filter language leaves, or those of some ids, and of how many the caller believes that it is.
 * @param filter Reads the text. @param change What is done to each of them.
 */
export function bulkRequest<Filter extends z.ZodType, Change extends z.ZodType>(filter: Filter, change: Change) {
  return z.strictObject({
    filter: filter.optional(),
    ids: z.array(Id).min(1).max(MAX_BULK_IDS).transform((ids) => [...new Set(ids)]).optional()
      .describe(`Ids of the records, at most ${MAX_BULK_IDS}, instead of \`filter\`.`),
    expected_count: z.int().min(0).max(MAX_BULK)
      .describe(`How many records it is to be of, as the list's \`meta.total\`; at most ${MAX_BULK}. If another number matches, nothing is changed.`),
    change: change.describe("What is done to each of them."),
  }).refine(({ filter: text, ids }) => (text === undefined) !== (ids === undefined), { path: ["filter"], message: "either filter or ids is needed, and not both" });
}

/** What came of a bulk change. */
export const BulkResult = z.object({
  matched: z.int().min(0).describe("Records that matched when it began: as many as were expected."),
  changed: z.int().min(0).describe("Those that are now different."),
  unchanged: z.int().min(0).describe("Those that were so already, or cannot be so."),
  gone: z.int().min(0).describe("Those that were deleted meanwhile, by somebody else."),
});
export type BulkResult = z.infer<typeof BulkResult>;
