/** Which CVEs concern which software, and where it runs. A judgment is of software, not of a device: equal evidence is judged once. */
export interface CveTables {
  /** Software and what is known of its host's system, as it was judged. The same for all tenants: reached from `service_software` alone. */
  judged_software: {
    id: string;
    /** SHA-256 of `evidence`, in hexadecimal. */
    fingerprint: string;
    /** JSON: the evidence, and CPE names of the host's systems and hardware. */
    evidence: string;
    /** `vendor:product` of its likeliest name, as `openbsd:openssh`. */
    product: string;
    /** Of the CVE database by which its judgments were last brought up to date; empty and 0 while they never were. */
    lineage: string; generation: number;
    /** SHA-256 of what the distribution said of its package, in hexadecimal; empty where nothing. */
    basis: string;
    judged_at: string;
    /** 0 while not all devices that have it are noted in `cve_reports` after its judgments changed. */
    is_reported: number;
  };
  /** A CVE that concerns software. `reasons` is a JSON list of texts, `remedies` one of `Remedy`. */
  cve_judgments: {
    software_id: string; cve_id: string; cpe: string; version_range: string;
    confidence: string; status: string; is_counted: number; reasons: string; remedies: string;
    /** When it held first, and until when; `until` is null while it holds. */
    since: string; until: string | null;
  };
  /**
   * What is shown of CVEs that concern anything. `risk` orders by known exploitation, EPSS and CVSS, `number` by year and number of the id.
   * `links` is a JSON list of addresses, `techniques` one of ATT&CK ids.
   */
  matched_cves: {
    cve_id: string; description: string; severity: string | null; score: number | null; published: string | null; is_kev: number;
    epss: number | null; risk: number; number: number; links: string; techniques: string;
  };
  /** How far a step over all rows has come: `name` was finished with this generation of the CVE database. */
  cve_matching: { name: string; lineage: string; generation: number; at: string };
  /** What ran where: `service_key` is `tcp/22`, or `host/ssh:22/openssh` for software of the host, which has no port. */
  service_software: {
    id: string; tenant_id: string; device_id: string; service_key: string; port: number | null; protocol: string; service: string;
    software_id: string;
    /** That of the software. */
    product: string;
    /** When it was there first, and until when; `until` is null while it is. */
    since: string; until: string | null;
  };
  /** Matches that people do not want to hear of; at least one of device, product and site is given. */
  cve_suppressions: {
    id: string; tenant_id: string;
    /** Null for all CVEs. */
    cve_id: string | null;
    device_id: string | null; product: string | null; site_id: string | null;
    reason: string; created_by: string; created_at: string; expires_at: string | null;
  };
  /** What was reported of a device and product. */
  cve_reports: {
    device_id: string; product: string; tenant_id: string;
    /** Another one whenever something changed that was not looked at yet; null where nothing has. Sorts by time. */
    due: string | null;
    /** When a suppression expires; null for none. */
    look_at: string | null;
    /** A JSON list of the CVEs that were reported and still are open. */
    cves: string;
    /** Of the alert that is open; null where none is. */
    severity: string | null;
  };
  /** A suppression that was made, changed or ended, and the last device and product that it concerns and that was noted in `cve_reports`. */
  cve_suppression_passes: {
    id: string; tenant_id: string; cve_id: string | null; device_id: string | null; product: string | null; site_id: string | null;
    after_device: string; after_product: string;
  };
}
