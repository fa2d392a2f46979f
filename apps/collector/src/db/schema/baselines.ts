/** What is normal of sites and devices, and what differs from it. */
export interface BaselineTables {
  /** One of each site, and one of each device. */
  baselines: {
    id: string; tenant_id: string; site_id: string; device_id: string | null;
    /** The device's id; empty for the site's own. */
    scope: string;
    state: string; learning_until: string | null;
    /** When the summary of its learning period was published. */
    learned_at: string | null;
    approved_by: string | null; approved_at: string | null;
    /** What people have set, in JSON. */
    settings: string;
    /** Hours of the week in which the device was looked for and was there, packed; empty for a site. */
    presence: string;
    /** Ids of `port_scopes` with which the device's ports were looked at, with spaces: what they cover and is no fact was not open. */
    scopes: string;
    /** When it is to be compared next. */
    compare_at: string;
    created_at: string; updated_at: string;
  };
  baseline_facts: {
    baseline_id: string; tenant_id: string; kind: string; key: string; value: string; source: string; author: string | null;
    reason: string | null; first_seen: string; looked_at: string | null; scope: string;
  };
  /** One whose device or baseline is not there any more is ended by the comparison, so that its alert ends as well. */
  baseline_differences: {
    id: string; tenant_id: string; site_id: string; device_id: string | null; baseline_id: string; kind: string; key: string;
    outcome: string; expected: string; observed: string; expected_at: string | null; observed_at: string | null; severity: string;
    state: string; first_seen: string; last_seen: string; ended_at: string | null; acceptance_id: string | null;
    /** Baseline, kind and key while it has not ended: there is one at a time. Null after that. */
    open_key: string | null;
  };
  baseline_acceptances: {
    id: string; tenant_id: string; site_id: string | null; device_id: string | null; tag: string | null; kind: string; key: string;
    outcome: string; observed: string; reason: string; created_by: string; created_at: string; expires_at: string | null;
  };
  /** `facts` is a list in JSON. */
  baseline_templates: {
    id: string; tenant_id: string; site_id: string | null; name: string; tag: string; facts: string; created_by: string; created_at: string;
    updated_at: string;
  };
  baseline_windows: {
    id: string; tenant_id: string; site_id: string; device_id: string | null; tag: string | null; begins_at: string; ends_at: string;
    effect: string; reason: string; created_by: string; created_at: string;
  };
  /** Up to which event of a tenant's log the comparison has come. */
  baseline_cursors: { tenant_id: string; seq: number };
}
