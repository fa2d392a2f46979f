import * as z from "zod";
import { Id, Instant } from "../../values.ts";

/** Rules that could not be run of which a probe reports the reasons; the others are counted. */
export const MAX_IDS_REFUSALS = 200;
/** Rules of which a probe reports what they cost. */
export const MAX_IDS_COSTS = 50;

const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
/** The signature's number, and its group. */
const OfRule = { generator_id: z.int().min(0).max(4_294_967_295), signature_id: z.int().min(0).max(4_294_967_295) };

/** A rule that could not be run. */
export const IdsRefusal = z.object({
  generator_id: OfRule.generator_id, signature_id: OfRule.signature_id.nullable(), keyword: z.string().max(64), reason: z.string().max(255),
});
export type IdsRefusal = z.infer<typeof IdsRefusal>;

/** What a rule costs. */
export const IdsRuleCost = z.object({ ...OfRule, checks: Count, matches: Count, nanoseconds: Count });
export type IdsRuleCost = z.infer<typeof IdsRuleCost>;

/** How a probe's intrusion detection is. Counts are since `since`. */
export const IdsState = z.object({
  state: z.enum(["off", "loading", "running", "failed"]),
  error: z.string().max(512).nullable(),
  /** Of the bundle whose rules run; null for none, and for rules of a file. */
  version: z.int().min(1).nullable(),
  loaded_at: Instant.nullable(),
  load_seconds: z.number().min(0).nullable(),
  rules: z.object({ loaded: Count, refused: Count }),
  refusals: z.array(IdsRefusal).max(MAX_IDS_REFUSALS),
  since: Instant,
  frames: z.object({ inspected: Count, shed: Count }),
  alerts: Count,
  /** What was not reported because of a suppression of the bundle: counted for each. */
  suppressed: z.array(z.object({ suppression_id: Id, count: Count })).max(1000),
  costs: z.array(IdsRuleCost).max(MAX_IDS_COSTS),
  /** A Suricata beside the probe; left out where there is none. */
  suricata: z.object({
    state: z.enum(["reading", "silent", "missing"]), alerts: Count, frames: Count.nullable(), dropped: Count.nullable(), error: z.string().max(512).nullable(),
  }).optional(),
});
export type IdsState = z.infer<typeof IdsState>;
