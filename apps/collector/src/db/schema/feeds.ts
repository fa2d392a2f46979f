/** Downloaded data, which is the same for all tenants. */
export interface FeedTables {
  feeds: {
    name: string;
    /** Where it was fetched from: what is known of another source counts for nothing. */
    url: string;
    /** JSON: what the source gave to ask with next time whether anything is new, by file. */
    validators: string;
    /** JSON: where in an incremental source the fetching is; null for none. */
    cursor: string | null;
    /** A JSON list of the files that were fetched. */
    files: string;
    /** Whether the files are all of it, or what has changed. */
    is_whole: number;
    /** Whether the files wait for their import. */
    is_pending: number;
    /** Of the last whole one that was good. */
    records: number | null; configured_share: number | null;
    requested_at: string | null;
    /** When the source last answered well, also that nothing is new. */
    answered_at: string | null;
    consumed_at: string | null;
    next_at: string | null;
    /** The source wants no request before that. */
    not_before: string | null;
    /** In a row. */
    failures: number;
    error_code: string | null; error: string | null;
    /** The problems that were published last, with commas; empty where it was well. */
    reported: string;
    created_at: string;
  };
  /** Updates; one runs at most, which alone has a `running_key`. `progress` is a JSON list of the contract's `CveUpdateFeed`. */
  feed_updates: {
    id: string; tenant_id: string; running_key: string | null; trigger: string; requested_by: string;
    /** The process that does it, whose `beats` rise while it lives. */
    holder: string; beats: number;
    status: string; progress: string; error: string | null; started_at: string; finished_at: string | null;
  };
}
