import type { Generated } from "kysely";

/** Rules of intrusion detection, and what people say of them. */
export interface IdsTables {
  ids_rulesets: {
    id: string; tenant_id: string;
    /** Null for all sites of the tenant. */
    site_id: string | null;
    name: string;
    /** `url`, `file` or `local`. */
    kind: string;
    /** Of `url` the URL, of `file` the file's name; of `local` empty. */
    place: string;
    checksum_url: string | null; interval_hours: number;
    is_enabled: number;
    /** Whether a new version counts as soon as it is whole, unless it is held back. */
    is_automatic: number;
    active_version: number | null; last_version: number;
    /** JSON: what the source gave to ask with next time whether anything is new. */
    validators: string;
    next_at: string | null; checked_at: string | null;
    /** In a row. */
    failures: number;
    error: string | null;
    /** What was last said to be wrong with it, as `feed_health` names it. */
    reported: Generated<string>; created_by: string; created_at: string;
  };
  /** Counts are of the version that was active when it came. */
  ids_ruleset_versions: {
    ruleset_id: string; version: number;
    /** SHA-256 of what the rules say, in hexadecimal. */
    digest: string;
    is_held: number; note: string; bytes: number; rules: number; enabled: number; refused: number; added: number; removed: number; changed: number;
    newly_refused: number; created_at: string; activated_at: string | null;
  };
  /** A version's content, packed, in Base64 pieces. */
  ids_version_pieces: { ruleset_id: string; version: number; piece: number; content: string };
  /** What people change in rules. `change` is JSON. */
  ids_overrides: {
    id: string; tenant_id: string; site_id: string | null; kind: string; value: string; state: string | null; change: string; reason: string; created_by: string;
    created_at: string;
  };
  /** What the probes of a site were given last; `digest` is of what it was made of. */
  ids_site_bundles: {
    site_id: string; tenant_id: string; version: number; digest: string; rules: number; refused: number; faults: string; error: string | null; built_at: string;
  };
  /** Networks that somebody named as a site's own, as a JSON list. */
  ids_site_networks: { site_id: string; tenant_id: string; home_networks: string };
  ids_suppressions: {
    id: string; tenant_id: string; site_id: string | null; signature_id: number | null; generator_id: number; category: string | null; source: string | null;
    destination: string | null; network: string | null; device_id: string | null; reason: string;
    /** How often it kept an alert back here; probes count for themselves. */
    hits: number;
    last_hit_at: string | null; created_by: string; created_at: string; expires_at: string | null;
  };
  /** How often a signature matched on a day for a host; of what is beyond a site's share, `host` is empty. */
  ids_signature_counts: {
    site_id: string; day: string; generator_id: number; signature_id: number; host: string; tenant_id: string; signature: string; category: string; alerts: number;
    suppressed: number; would_block: number; last_at: string;
  };
}
