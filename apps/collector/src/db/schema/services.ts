import type { Generated } from "kysely";

/** What single services keep, and what replicas share. */
export interface ServiceTables {
  scans: {
    id: string; tenant_id: string; site_id: string; probe_id: string;
    /** The first and the last address of `target`, as `addressKey` spells them. */
    target: string; target_first: string; target_last: string;
    profile: string; status: string; progress: number; requested_by: string;
    created_at: string; started_at: string | null; finished_at: string | null;
    hosts_total: number; hosts_up: number; ports_open: number; error: string | null;
    /** The collector took it for failed without a word of the probe, whose word still counts. */
    presumed: number;
    command_id: string;
    /** The command that ends it, until the probe has answered that. */
    cancel_command_id: string | null;
    /** The probe's run in which it was asked for. */
    run_id: string | null;
    /** When the probe must have answered. */
    answer_by: string;
    /** When something was last heard of it. */
    heard_at: string;
    /** When its probe was seen in another run. */
    orphaned_at: string | null;
    /** A list in JSON. */
    remarks: Generated<string>;
    /** Rows of hosts and ports that were written for it, again and again too. */
    stored_rows: Generated<number>;
    /** The ports that it asks: an id of `port_scopes`; null where its probe did not report them, or asks none. */
    scope_id: Generated<string | null>;
  };
  /** Distinct lists of ports that scans of a site ask, as `PortRanges` has them. */
  port_scopes: { id: string; tenant_id: string; site_id: string; tcp: string; udp: string; used_at: string };
  ipam_prefixes: {
    id: string; tenant_id: string; site_id: string | null;
    /** The site's id, or empty: of what is unique, null would be like nothing else. */
    scope: string;
    prefix: string;
    /** Its first and last address, as `addressKey` spells them. */
    first_key: string; last_key: string;
    /** `first_key` and the length, so that texts sort as prefixes do. */
    sort_key: string;
    length: number; family: number; vlan_id: number | null; name: string; description: string; status: string; created_at: string;
    updated_at: string;
  };
  ipam_addresses: {
    id: string; tenant_id: string; site_id: string | null; scope: string; ip: string; ip_key: string; family: number; status: string;
    mac: string | null; hostname: string; description: string; created_at: string; updated_at: string;
  };
  /** Of the whole deployment; `tenant_id` is the operator's. */
  backups: {
    id: string; tenant_id: string; status: string;
    /** The same for all that are running, so that there is one at most. */
    running_key: string | null;
    trigger: string; requested_by: string; created_at: string;
    /** When whoever makes it last said so. */
    heard_at: string;
    finished_at: string | null; engine: string; version: string;
    /** A JSON list of public keys. */
    recipients: string;
    file_name: string; size_bytes: number | null; sha256: string | null; table_count: number | null; row_count: number | null;
    error: string | null;
    /** The contract's `verification`; `verified_at` is when it began while it runs. */
    verify_status: string | null; verify_method: string | null; verify_error: string | null; verified_at: string | null;
  };
  /** Of an address at a site; `kinds` with commas. The flag is 0 until a second check finds it too and it is published. */
  ipam_conflicts: { tenant_id: string; site_id: string; ip_key: string; kinds: string; published: number };
  /** What people have set: one row at most. `recipients` is a JSON list; null where nothing was set, or nothing is scheduled. */
  backup_settings: {
    id: string; schedule: string | null; keep: number | null; recipients: string | null; scheduled_at: string | null; updated_at: string;
    updated_by: string;
  };
  scan_hosts: { scan_id: string; tenant_id: string; ip: string; ip_key: string; mac: string; seen_at: string; port_counts: string | null };
  scan_ports: {
    scan_id: string; tenant_id: string; ip_key: string; port: number; protocol: string; state: string;
    service: string; version: string; banner: string;
  };
  /** A tenant's license as it was uploaded, and its state that was published last. */
  licenses: { tenant_id: string; license: string; published_state: string; uploaded_at: string; uploaded_by: string };
  /** Running configurations of network devices. `content_sealed` is the text, compressed and sealed. */
  config_versions: {
    id: string; tenant_id: string; device_id: string; version: number; content_sealed: string; size_bytes: number; lines: number;
    lines_added: number; lines_removed: number; changed_by: string; comment: string; captured_at: string; created_at: string;
  };
  /** Duties that one process of several has: `beats` rise while the holder lives. */
  leases: { name: string; holder: string; beats: number };
  /** What the deployment has made for itself, sealed: see `secretsInDatabase`. */
  kept_secrets: { id: string; content_sealed: string };
}
