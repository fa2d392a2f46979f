import * as z from "zod";

const Hours = z.number().min(0.25).max(8760);
/** Where a feed or a mirror is: a URL, or a path on this machine. */
const Place = z.string().min(1).max(2048).refine(isPlace, {
  error: "https:// or http:// and a host, file:/// and a path, or an absolute path",
});

/** `[feeds.sources.<name>]`: one feed's own settings. */
const SourceSettings = z.strictObject({
  /** Without it, the table of feeds says. */
  enabled: z.boolean().optional(),
  /** Instead of its public source. */
  url: Place.optional(),
  interval_hours: Hours.optional(),
  /** How much smaller than the last good one it may be. */
  max_drop_percent: z.number().min(0).max(100).optional(),
  /** How many records it has at least, of a mirror that holds a part. */
  min_records: z.int().min(0).max(1_000_000_000).optional(),
});

/** `[feeds]`: data that is downloaded, as CVEs. */
export const FeedSettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Where the files lie; `feeds` in the data directory where it is left out. Collectors that share a database share it. */
  directory: z.string().min(1).optional(),
  /** Has every feed under its file's name, for feeds without a `url` of their own. */
  mirror: Place.optional(),
  /** An HTTP proxy for all of them, as `http://user:password@proxy:3128`. */
  proxy: z.string().max(2048).refine((text) => URL.canParse(text) && new URL(text).protocol === "http:", "http:// and a host").optional(),
  /** Certificate authorities of mirrors, in PEM, beside the usual ones. */
  ca_file: z.string().min(1).optional(),
  interval_hours: Hours.default(6),
  /** A feed that is older raises an alert. */
  alert_after_hours: z.number().min(1).max(8760).default(48),
  nvd_api_key: z.string().regex(/^[\w-]{8,128}$/, "letters, digits and -").optional(),
  sources: z.record(z.string().max(64), SourceSettings).default({}),
}).prefault({});
export type FeedSettings = z.infer<typeof FeedSettings>;

function isPlace(text: string): boolean {
  if (text.startsWith("/")) return true;
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "file:" ? hostname === "" : (protocol === "https:" || protocol === "http:") && hostname !== "";
}
