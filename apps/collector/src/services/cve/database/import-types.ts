import * as z from "zod";

/** What is in a feed's files. */
export const FEED_FORMATS = [
  "nvd", "cve-list", "kev", "epss", "capec-stix", "cwe-xml", "attack-stix", "ctid-mappings", "ctid-csv", "debian-tracker", "osv",
] as const;

/** Feeds that go into the database together. */
export const CveImport = z.strictObject({
  /** The folder of the CVE database. */
  directory: z.string(),
  /** Milliseconds since the epoch. */
  now: z.number(),
  feeds: z.array(z.strictObject({
    /** No two have the same. */
    name: z.string(),
    /** Null where the files themselves say what they are. */
    format: z.enum(FEED_FORMATS).nullable(),
    /** Whether the files are all of it: what it said before and does not say now is forgotten, but for CVE records, which are withdrawn by name. */
    isWhole: z.boolean(),
    files: z.array(z.strictObject({ name: z.string(), path: z.string() })),
  })),
  /** Takes the result also where it has far fewer records, or far fewer with configurations, than the last generation. */
  acceptsDrop: z.boolean(),
});
/** Feeds that go into the database together. */
export type CveImport = z.infer<typeof CveImport>;
/** One feed of an import. */
export type CveFeed = CveImport["feeds"][number];

/** One of `FEED_FORMATS`. */
export type FeedFormat = (typeof FEED_FORMATS)[number];

const Counts = z.object({ cves: z.int(), configured: z.int() });

/** What became of one feed. */
export const FeedOutcome = z.object({
  name: z.string(),
  /** What its files are, as `nvd-page`; null where that could not be seen. */
  kind: z.string().nullable(),
  /** As the files lie on the disk, and unpacked. */
  octets: z.int(), unpacked: z.int(),
  records: z.int(), added: z.int(), changed: z.int(),
  /** What was there is as new. */
  older: z.int(),
  /** CVEs that were rejected. */
  withdrawn: z.int(),
  refused: z.int(),
  /** Why elements were refused, and how many each, the most frequent first. */
  reasons: z.array(z.object({ reason: z.string(), count: z.int() })),
  /** Why nothing of the feed was taken; null where it was. */
  error: z.string().nullable(),
});
/** What became of one feed. */
export type FeedOutcome = z.infer<typeof FeedOutcome>;

/** What became of an import. */
export const CveImportResult = z.object({
  /** `refused`: the last generation goes on answering, and `error` says why. */
  state: z.enum(["imported", "refused"]),
  error: z.string().nullable(),
  feeds: z.array(FeedOutcome),
  generation: z.int(),
  /** Whether the database was begun afresh: then only whole feeds make it whole. */
  isFresh: z.boolean(),
  before: Counts.nullable(), after: Counts.nullable(),
  bytes: z.int(),
});
/** What became of an import. */
export type CveImportResult = z.infer<typeof CveImportResult>;

/** How far an import is. `octets` are of the feed's files as they lie on the disk. */
export const CveImportProgress = z.object({
  stage: z.enum(["reading", "finishing"]), feed: z.string(), records: z.int(), octets: z.int(), octetsTotal: z.int(),
});
/** How far an import is. */
export type CveImportProgress = z.infer<typeof CveImportProgress>;
