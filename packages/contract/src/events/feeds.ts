import * as z from "zod";
import { FEED_PROBLEMS, FEED_STATES, Id, Severity } from "../values.ts";

const Feed = z.string().min(1).max(64);

/** How far an update of downloaded data is: when it begins and ends, when a feed's state changes, and every few seconds between. */
export const FeedUpdate = z.object({
  update_id: Id,
  status: z.enum(["running", "completed", "failed"]),
  /** Null where it is about the update as a whole. */
  feed: Feed.nullable(),
  state: z.enum(FEED_STATES).nullable(),
  bytes: z.int().min(0),
  bytes_total: z.int().min(0).nullable(),
  pages: z.int().min(0),
  records: z.int().min(0),
  records_total: z.int().min(0).nullable(),
  message: z.string().max(512),
});

/** A feed cannot be relied on (`raised`), or can be again (`cleared`). */
export const FeedHealth = z.object({
  feed: Feed,
  title: z.string().max(128),
  state: z.enum(["raised", "cleared"]),
  /** Empty where it is well. */
  problems: z.array(z.enum(FEED_PROBLEMS)).max(FEED_PROBLEMS.length),
  severity: Severity,
  message: z.string().max(1024),
});
