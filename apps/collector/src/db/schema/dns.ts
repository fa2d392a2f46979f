/** For whom something holds: a device, those with a tag, a VLAN of a site, a site; everyone where all are null. */
interface ScopeColumns {
  device_id: string | null; group_tag: string | null; site_id: string | null; vlan: number | null;
}

/** The filtering resolver. */
export interface DnsTables {
  dns_lists: {
    id: string; tenant_id: string;
    /** Null for all sites of the tenant. */
    site_id: string | null;
    name: string; category: string;
    /** `url`, `file` or `local`. */
    kind: string;
    /** Of `url` the URL, of `file` the file's name; of `local` empty. */
    place: string;
    /** Null where each version's beginning says it. */
    format: string | null;
    /** Of a zone that is transferred with a key: its name, its algorithm, and its secret in Base64, sealed. */
    tsig_name: string | null; tsig_algorithm: string | null; tsig_sealed: string | null;
    origin: string | null; may_rewrite: number; checksum_url: string | null; interval_hours: number; is_enabled: number;
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
    reported: string; created_by: string; created_at: string;
  };
  /** `parts` are the lengths of its content's parts, `refusals` lines that were not understood; both are JSON. */
  dns_list_versions: {
    list_id: string; version: number;
    /** SHA-256 of its lines, in hexadecimal. */
    digest: string;
    is_held: number; note: string; format: string; bytes: number; parts: string; rules: number; refused: number; refusals: string; added: number; removed: number;
    created_at: string; activated_at: string | null;
  };
  /** A version's content, packed, in Base64 pieces. */
  dns_list_pieces: { list_id: string; version: number; piece: number; content: string };
  /** `settings` is JSON: what a policy has beside its name and scope. */
  dns_policies: ScopeColumns & { id: string; tenant_id: string; name: string; settings: string; created_by: string; created_at: string };
  /** `kind` is `block`, `allow`, `protect` (rules), `allowance` or `pause`; a pause has no name. */
  dns_decisions: ScopeColumns & {
    id: string; tenant_id: string; kind: string; name: string; has_subdomains: number; reason: string; expires_at: string | null; created_by: string; created_at: string;
  };
  /** What the probes of a site were given last; `digest` is of what it was made of. */
  dns_site_bundles: { site_id: string; tenant_id: string; version: number; digest: string; rules: number; bytes: number; error: string | null; built_at: string };
  /** How much of what a site's clients ask is reported (`DNS_QUERY_LEVELS`) and kept at most; null where nobody decided it here. */
  dns_query_settings: { site_id: string; tenant_id: string; level: string | null; keep_days: number | null; changed_by: string; changed_at: string };
  /** What the resolvers of a site were asked in an hour, in all; `entries` are its rows of `dns_queries`, `left_out` queries that are in none. */
  dns_query_hours: {
    site_id: string; hour: string; tenant_id: string; queries: number; from_cache: number; failed: number; blocked: number; observed: number; left_out: number; entries: number;
    /** How much was reported last, and when. */
    level: string; reported_at: string;
  };
  /** Queries of a client in an hour that are alike; `key` is of all that they share. */
  dns_queries: {
    id: string; key: string; tenant_id: string; site_id: string; hour: string; client_ip: string; device_id: string | null; name: string; type: string; action: string; list: string;
    times: number; first_at: string; last_at: string;
  };
}
