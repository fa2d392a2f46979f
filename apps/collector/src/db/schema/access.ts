import type { Generated } from "kysely";

/** Who may do what: tenants, sites, users, keys, tokens, and what is kept of their requests. */
export interface AccessTables {
  tenants: {
    id: string; name: string; created_at: string;
    /** What the names of users that the tenant makes end with, behind an `@`; null where they may be any. */
    login_domain: Generated<string | null>;
    last_event_seq: Generated<number>;
    /** What the tenant's events take, kept by the log for its retention. */
    event_bytes: Generated<number>;
    /** Rises with every change of which webhooks take which events, so that whoever remembers them knows when to look again. */
    webhooks_revision: Generated<number>;
  };
  sites: {
    id: string; tenant_id: string; name: string; created_at: string;
    /** The settings of its probes: `sweep` and `excluded` of the contract's ProbeConfiguration. */
    probe_configuration: string;
    configuration_revision: Generated<number>;
    /** A list of networks that may be scanned beyond the probes' own subnets. */
    scan_networks: Generated<string>;
    /** Of the IANA database. */
    time_zone: string | null;
  };
  users: {
    id: string; tenant_id: string; username: string;
    /** `username` in lower case: one for all tenants, since people log in by the name alone. */
    username_key: string;
    password_hash: string; role: string; created_at: string;
    /** Tokens issued before this moment are refused: logout of all, password change. */
    tokens_valid_from: string;
    email: string | null; last_login_at: string | null;
  };
  revoked_tokens: { jti: string; tenant_id: string; expires_at: string };
  /** Whose bearer has given the password once more. */
  confirmed_tokens: { jti: string; tenant_id: string; confirmed_until: string };
  api_keys: {
    id: string; tenant_id: string;
    /** Its maker, with whom it goes, and whose scopes bound its own. */
    user_id: string;
    name: string; secret_sha256: string; hint: string;
    /** A JSON list. */
    scopes: string;
    created_at: string; expires_at: string | null; last_used_at: string | null;
  };
  /** Each opens one stream for the bearer of the token or key that it was made with. */
  stream_tickets: {
    secret_sha256: string; tenant_id: string; user_id: string; key_id: string | null; token_id: string; token_issued_at: string;
    token_expires_at: string | null; expires_at: string;
  };
  /** `failed_at` is a JSON list of milliseconds since the epoch. What is typed as a user name is sometimes a password, so it is hashed. */
  login_failures: { username_sha256: string; address: string; failed_at: string; updated_at: string };
  /** Requests that came with an `Idempotency-Key`, for a day. `answer` is sealed; null while the request is under way. */
  idempotency_keys: {
    tenant_id: string; caller: string; key_sha256: string; fingerprint: string;
    /** Whoever is doing it, until `leased_until`. */
    run_id: string; leased_until: string;
    expires_at: string; answer: string | null;
  };
  /** Every write through the API. `before` and `after` are JSON objects without secrets. */
  audit: {
    id: string; tenant_id: string; at: string; actor_type: string; actor_id: string; actor_name: string; address: string;
    action: string; target_type: string; target_id: string; before: string | null; after: string | null;
    /** Of a record that stands for all of an hour that are alike, logins and the like; null for every other. See `createAudit`. */
    window_key: Generated<string | null>;
    /** How many it stands for, and when the last one was; null for one alone. */
    times: Generated<number>;
    last_at: Generated<string | null>;
  };
  /** When each caller has asked in the last minute, as a JSON list of milliseconds since the epoch: see `createSharedRateLimiter`. */
  request_times: { caller: string; times: string; updated_at: number };
}
