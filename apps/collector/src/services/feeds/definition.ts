/** Whose consumer a feed's files are for. */
export type FeedSubject = "cve" | "countries";

/** What is in a feed's files; who reads them chooses the parser by it. */
export type FeedFormat =
  | "nvd" | "cve-list" | "kev" | "epss" | "capec-stix" | "cwe-xml" | "attack-stix" | "ctid-mappings" | "ctid-csv" | "debian-tracker" | "osv" | "rir-delegated";

/** A file of a source, below its URL. An empty `path` is the URL itself. `name` is what it is called here and in mirrors. */
export interface SourceFile {
  readonly name: string;
  readonly path: string;
}

/** How a source is asked. */
export type SourceKind =
  /** Files that are fetched whole when they have changed. */
  | { readonly kind: "files"; readonly url: string; readonly files: readonly SourceFile[] }
  /** NVD's API 2.0: pages, and then windows of what was modified. */
  | { readonly kind: "nvd-api"; readonly url: string }
  /** Releases of the CVE list: all of it once, then what changed on each day. */
  | { readonly kind: "releases"; readonly url: string };

/** How records are counted without parsing: a text that each has exactly once, or an ending of names in an archive. */
export interface RecordMark {
  readonly record: string;
  /** What each record has that says where it applies. */
  readonly configured?: string;
  /** The last character of a whole file that is JSON. */
  readonly end?: "}" | "]";
}

/** A feed that a consumer has not taken. */
export interface UnusedFeed {
  readonly name: string;
  /** Why, for people. */
  readonly error: string;
}

/** A row of the table of feeds: where it comes from, how often, how large it may be, and what must hold for it to be used. */
export interface FeedDefinition {
  readonly name: string;
  /** For people. */
  readonly title: string;
  readonly subject: FeedSubject;
  readonly format: FeedFormat;
  readonly source: SourceKind;
  /** Fetched only where the configuration enables it: it is large, and adds little to the others. */
  readonly isOptIn?: true;
  /** Where its source changes less often than the site-wide interval; null for that. */
  readonly intervalHours: number | null;
  /** Of one file, as it is sent and unpacked. */
  readonly maxBytes: number;
  readonly maxUnpackedBytes: number;
  /** How many times larger unpacked than packed. */
  readonly maxRatio: number;
  readonly mark: RecordMark;
  /** Of a whole one. */
  readonly minRecords: number;
  /** How much smaller than the last good one a whole one may be, in percent. */
  readonly maxDropPercent: number;
  /** By how much the share of records with configurations may fall, in percent of all records; null where it has none. */
  readonly maxShareDropPercent: number | null;
  /** The least time between two requests, without and with a key. */
  readonly spacingMs: readonly [plain: number, keyed: number];
}

/** A file that was fetched, or that lies on this machine. */
export interface FeedFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly packing: "none" | "gzip" | "zip" | "xz";
}

/** What a consumer is handed of one feed. */
export interface FetchedFeed {
  readonly name: string;
  readonly format: FeedFormat;
  /** All of the feed; else what has changed since it was handed over last, oldest first. */
  readonly isWhole: boolean;
  readonly files: readonly FeedFile[];
}

/** How far a consumer is. */
export interface ConsumeProgress {
  readonly feed: string;
  readonly records: number;
  readonly recordsTotal: number | null;
}

/**
 * Takes what was fetched, all feeds of a subject together. The files stay as they are until it resolves; when it rejects, they
 * are handed over again at the next update.
 * @returns Feeds that it could not use. They are fetched whole again when they are due; the others were taken.
 */
export type ConsumeFeeds = (feeds: readonly FetchedFeed[], options: {
  readonly onProgress: (progress: ConsumeProgress) => void; readonly stopped: AbortSignal;
}) => Promise<readonly UnusedFeed[]>;

/** What a consumer has made of its feeds. */
export interface LoadedData {
  readonly entries: number;
  /** ISO 8601, UTC. */
  readonly builtAt: string;
  /** Entries that say where they apply, now and when they were the most. */
  readonly configured: number;
  readonly mostConfigured: number;
}
