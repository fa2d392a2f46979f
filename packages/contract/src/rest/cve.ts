import * as z from "zod";
import { FEED_PROBLEMS, FEED_STATES, Id, Instant } from "../values.ts";

/** How far an update is with one feed. */
export const CveUpdateFeed = z.object({
  name: z.string().describe("The feed, as `nvd`."),
  state: z.enum(FEED_STATES).describe(
    "`queued`: its turn comes. `fetching`, `fetched`: its download. `unchanged`: its source has nothing new. `waiting`: its source may not be "
      + "asked yet. `importing`, `imported`: its way into the database. `failed`: `error` says why; the last good data stays.",
  ),
  bytes: z.int().min(0).describe("Bytes that were downloaded."),
  bytes_total: z.int().min(0).nullable().describe("How many there are. Null while unknown."),
  pages: z.int().min(0).describe("Pages or files that were downloaded."),
  records: z.int().min(0).describe("Records in them."),
  records_total: z.int().min(0).nullable().describe("How many there are. Null while unknown."),
  error: z.string().nullable().describe("Why it failed. Null where it did not."),
});
export type CveUpdateFeed = z.infer<typeof CveUpdateFeed>;

/** An update of the local CVE database from its feeds. */
export const CveUpdate = z.object({
  id: Id.describe("The update's id, as `update_id` of `feed_update` on the stream."),
  status: z.enum(["running", "completed", "failed"]).describe("`failed` where a feed failed or the import did. All others are updated then too."),
  trigger: z.enum(["manual", "scheduled"]).describe("Whether a user or the schedule started it."),
  requested_by: z.string().describe("Name of the user who started it, or `schedule`."),
  started_at: Instant.describe("When it was started."),
  finished_at: Instant.nullable().describe("When it ended. Null while it runs."),
  feeds: z.array(CveUpdateFeed).describe("The feeds that it updates, in their order."),
  error: z.string().nullable().describe("Why it failed. Null where it did not."),
});
export type CveUpdate = z.infer<typeof CveUpdate>;

/** A feed of the CVE database. */
const CveFeed = z.object({
  name: z.string().describe("The feed, as `nvd`."),
  title: z.string().describe("Its name for people."),
  updated_at: Instant.nullable().describe("When new data of it was imported last. Null for never."),
  checked_at: Instant.nullable().describe("When its source last answered, also that nothing is new. Null for never."),
  next_at: Instant.nullable().describe("When it is due again. Null where updates are disabled."),
  records: z.int().min(0).nullable().describe("Records of its last whole download. Null while unknown."),
  problems: z.array(z.enum(FEED_PROBLEMS)).describe("What is wrong with it. Each raises an alert of the operator."),
  error: z.string().nullable().describe("Why the last download failed. Null where it did not."),
});

/** The local CVE database: how large and how old it is, and where it comes from. */
export const CveDatabaseInfo = z.object({
  total_entries: z.int().min(0).describe("CVEs in the database."),
  last_update: Instant.nullable().describe("When new data was imported last. Null for never."),
  update_source: z.string().describe("The public feed that most entries come from, as `NVD`."),
  next_scheduled_update: Instant.nullable().describe("When the next scheduled update starts. Null where updates are disabled."),
  updating: z.boolean().describe("Whether an update runs now."),
  update: CveUpdate.nullable().describe("The last update that the caller's tenant started, or the schedule for the operator. Null for none."),
  feeds: z.array(CveFeed).describe("The feeds that it is made of."),
});
export type CveDatabaseInfo = z.infer<typeof CveDatabaseInfo>;
