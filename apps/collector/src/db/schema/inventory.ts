import type { Generated } from "kysely";

/** Software, as `SoftwareColumns` of the room `software` has it. */
type SoftwareOf = {
  vendor: string; product: string; product_version: string; edition: string; distribution: string; package_version: string;
  cpe: string; cpe_key: string; software_confidence: number;
};

/** What is known of each site's network. */
export interface InventoryTables {
  devices: {
    id: string; tenant_id: string; site_id: string;
    ip: string;
    /** `ip` in a spelling that sorts by number: see `addressKey`. */
    ip_key: string;
    /** MAC of the interface that has `ip`. */
    mac: string;
    hostname: string;
    /** `hostname` in a spelling that sorts as people expect: see `hostnameKey`. Written wherever `hostname` is. */
    hostname_key: string;
    vendor: string; os_guess: string; device_type: string;
    is_online: number; presence_state: string; first_seen: string; last_seen: string;
    open_ports: string; tags: string; locked_fields: string;
    /** How many interfaces it has, where that is more than one. */
    mac_count: Generated<number>;
    /** What its evidence comes to, as JSON: see `readVerdicts`. */
    verdicts: Generated<string>;
  };
  /**
   * What a search looks through, in lower case; triggers keep it. `ips` has each address of a device on a line, `macs` each MAC twice:
   * twelve digits, and with colons. In SQLite the rows of a tenant have numbers of one range: see `search.ts` of the devices.
   */
  device_texts: { number: Generated<number>; tenant_id: string; device_id: string; hostname: string; ips: string; macs: string };
  /** How many devices there are of each kind; triggers keep it. */
  device_counts: { tenant_id: string; site_id: string; is_online: number; devices: number };
  /** How many devices were found at a site within the running window, and when that was too many: see `announcements.ts`. */
  site_discoveries: {
    site_id: string; tenant_id: string; window_at: string; found: number; storm: number; storm_since: string | null;
    storm_until: string | null;
  };
  interfaces: {
    device_id: string; tenant_id: string; site_id: string; mac: string; vendor: string; first_seen: string;
    /** How the interface is, where its device has others; that of a device with one interface is in the device's row. */
    presence_state: Generated<string>;
  };
  addresses: {
    device_id: string; tenant_id: string; site_id: string; mac: string; ip: string; ip_key: string;
    first_seen: string; last_seen: string; current: number;
  };
  ports: {
    device_id: string; tenant_id: string; port: number; protocol: string; state: string; service: string; version: string;
    banner: string; last_scanned: string;
  } & { [C in keyof SoftwareOf]: Generated<SoftwareOf[C]> };
  /** What runs on a device beside its services: systems and firmware, by who said so. */
  device_software: { device_id: string; tenant_id: string; source: string; first_seen: string; last_seen: string } & SoftwareOf;
  /** Devices whose software has changed since it was last taken in: see `noteSoftwareChanges`. */
  software_changes: { device_id: string; tenant_id: string; since: string; revision: string };
  /**
   * When a scan last looked for which ports of a device: what it asked and did not find open is not open in `ports`. One whose row of
   * `port_scopes` has gone says nothing.
   */
  port_looks: { device_id: string; tenant_id: string; scope_id: string; looked_at: string; scan_id: string };
  device_changes: {
    id: string; device_id: string; tenant_id: string; at: string; field: string; before: string; after: string; source: string;
  };
  evidence: { device_id: string; tenant_id: string; field: string; value: string; source: string; confidence: number; seen_at: string };
  /** What names a device beyond its interfaces: see `keyText`. Two devices have one only where they were kept apart. */
  device_keys: { device_id: string; tenant_id: string; site_id: string; key: string; source: string; first_seen: string };
  /** Devices that were found to be one. A device that is not there any more is found by `merged_id`. */
  device_merges: {
    id: string; tenant_id: string; site_id: string; kept_id: string; merged_id: string; at: string;
    by_type: string; by_id: string; by_name: string; reasons: string;
    /** What is needed to undo it, as JSON; null for an interface that a person took away from a device, which was never a device. */
    snapshot: string | null;
    /** From then on the two are kept apart. */
    undone_at: string | null;
  };
  /** Neighbors that announce themselves on a probe's link, one row for each protocol; `data` is the event that reported it, `key` its position in it. */
  neighbors: {
    probe_id: string; key: string; tenant_id: string; site_id: string; data: string; first_seen: string; last_seen: string;
    /** 0 once it was silent for its time to live, or said that it goes. */
    current: number;
  };
  switch_reports: {
    probe_id: string; ip: string; tenant_id: string; site_id: string; data: string; first_seen: string; last_seen: string;
    /** 0 once it does not answer any more. */
    current: number;
  };
}
