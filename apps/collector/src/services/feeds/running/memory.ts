import { parseJson, toInstant } from "@lanthorn/runtime";
import * as z from "zod";
import type { FeedMemory } from "../fetching/context.ts";
import type { ConfiguredFeed } from "../source.ts";
import type { FeedRow } from "../store.ts";

const Files = z.array(z.object({
  name: z.string(), path: z.string(), bytes: z.number(), packing: z.enum(["none", "gzip", "zip", "xz"]),
}));
const AllValidators = z.record(z.string(), z.object({ etag: z.string().optional(), lastModified: z.string().optional() }));

/** What a row remembers of its feed. What cannot be read counts as nothing, so that it is fetched anew. */
export function memoryOf(row: FeedRow): FeedMemory {
  const files = Files.safeParse(parseJson(row.files));
  const validators = AllValidators.safeParse(parseJson(row.validators));
  return {
    files: files.success ? files.data : [], isWhole: row.is_whole === 1, isPending: row.is_pending === 1,
    validators: validators.success && files.success ? (validators.data as FeedMemory["validators"]) : {},
    cursor: row.cursor === null ? null : parseJson(row.cursor),
    counts: { records: row.records, configuredShare: row.configured_share },
  };
}

/** The columns of a part of what is remembered. */
export function columnsOf(memory: Partial<FeedMemory>): Partial<FeedRow> {
  const { files, isWhole, isPending, validators, cursor, counts } = memory;
  return {
    ...(files && { files: JSON.stringify(files) }), ...(isWhole !== undefined && { is_whole: Number(isWhole) }),
    ...(isPending !== undefined && { is_pending: Number(isPending) }), ...(validators && { validators: JSON.stringify(validators) }),
    ...(cursor !== undefined && { cursor: cursor === null ? null : JSON.stringify(cursor) }),
    ...(counts && { records: counts.records, configured_share: counts.configuredShare }),
  };
}

/** A feed of which nothing is known. @param now Milliseconds since the epoch. @param firstMs How long its first download waits. */
export function newRow({ definition, source }: ConfiguredFeed, now: number, firstMs: number): FeedRow {
  return {
    name: definition.name, url: source.url, ...NOTHING, requested_at: null, next_at: toInstant(now + firstMs), reported: "", created_at: toInstant(now),
  };
}

/** What is forgotten where a feed has another source. */
export const NOTHING = {
  validators: "{}", cursor: null, files: "[]", is_whole: 0, is_pending: 0, records: null, configured_share: null, answered_at: null,
  consumed_at: null, not_before: null, failures: 0, error_code: null, error: null,
} as const satisfies Partial<FeedRow>;
