import type { Generated } from "kysely";

/** Probes and what they are handed. */
export interface ProbeTables {
  enrollment_tokens: {
    id: string; tenant_id: string; site_id: string; secret_sha256: string; created_by: string; created_at: string; expires_at: string;
    used_at: string | null; probe_id: string | null;
  };
  probes: {
    id: string; tenant_id: string; site_id: string; name: string; enrolled_at: string; revoked_at: string | null;
    certificate_serial: string; certificate_expires_at: string; version: string;
    /** `enrolled` until first heard, then `online` or `silent`. */
    state: string;
    silent_since: string | null; last_heard_at: string | null; run_id: string | null; health: string | null; refused: Generated<string>;
    /** SubjectPublicKeyInfo in Base64 of its certificate's key, and of the one with which it asked for that; null before any. */
    public_key: Generated<string | null>; previous_public_key: Generated<string | null>;
    /** Settings of this probe alone, which override its site's. */
    settings: Generated<string>;
    /** With its site's, the revision of its settings. */
    configuration_revision: Generated<number>;
    /** How far our clock is ahead of its clock, as last measured; null before any batch. */
    clock_offset_ms: Generated<number | null>;
  };
  /** How a probe was, every few minutes. */
  probe_health: { probe_id: string; at: string; tenant_id: string; health: string };
  /** How far each queue file of a probe is committed. */
  probe_queues: {
    probe_id: string; queue_id: string; tenant_id: string; watermark: number; updated_at: string;
    /** Empty for one from before this was kept. */
    created_at: Generated<string>;
  };
  /** Events that a probe sent and this collector could not read, kept as they came so that nothing is lost. */
  rejected_events: {
    probe_id: string; queue_id: string; probe_seq: number; tenant_id: string; received_at: string; reason: string; payload: string;
  };
  /** Files that probes send up in pieces; their bytes lie in the data directory. The id is the probe's own. */
  probe_files: {
    probe_id: string; id: string; tenant_id: string; kind: string; size: number; sha256: string;
    /** How many bytes are on the disk for certain. */
    received: number;
    /** `open`, `received`, `taken` or `failed`. */
    state: string;
    /** How often the whole was not what its digest said. */
    attempts: number;
    created_at: string; updated_at: string;
  };
  /** Files that all probes are given: each bundle's newest version, signed. */
  bundles: {
    name: string; version: number; manifest: string; signature: string; certificate: string; parts: number; bytes: number; published_at: string;
  };
  /** Which parts a bundle has. */
  bundle_parts: { name: string; sha256: string };
  /** Parts in pieces of `BUNDLE_PIECE_BYTES`, counted from 0, in Base64. */
  bundle_pieces: { sha256: string; piece: number; content: string };
  /** What probes log in to devices with. `settings` is no secret; `secret_sealed` is an object in JSON, sealed. */
  credentials: {
    id: string; tenant_id: string; name: string; type: string; settings: string; networks: string; secret_sealed: string;
    created_at: string; updated_at: string;
  };
  /** Whom a credential is handed to: the probes of a site, or one probe. */
  credential_assignments: { credential_id: string; tenant_id: string; site_id: string | null; probe_id: string | null };
  /** What people have set of a site's guards, in JSON. */
  guard_settings: { site_id: string; tenant_id: string; settings: string };
  /** What is right though a guard would report it. */
  guard_exceptions: {
    id: string; tenant_id: string; site_id: string; kind: string | null; ip: string | null; mac: string | null; reason: string;
    created_by: string; created_at: string;
    /** Null for one without an end. */
    expires_at: string | null;
  };
  /** The last command to learn anew of each probe: `sent`, `done` or `failed`. */
  guard_learning: {
    probe_id: string; tenant_id: string; command_id: string; asked_at: string; asked_by: string;
    /** When the probe must have answered. */
    answer_by: string;
    status: string; error: string | null;
  };
}
