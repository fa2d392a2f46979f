import type { FeedDefinition, SourceFile } from "./definition.ts";

const MB = 1_000_000;
const GB = 1000 * MB;
const RAW = "https://raw.githubusercontent.com";
/** The file that the URL itself is. */
const itself = (name: string): readonly SourceFile[] => [{ name, path: "" }];
/** JSON packs to a fifth, at times to a fortieth; a bomb to a thousandth. */
const MAX_RATIO = 100;
const PLAIN = { maxRatio: MAX_RATIO, maxShareDropPercent: null, spacingMs: [0, 0] } as const;
const REGISTRIES = ["afrinic", "apnic", "arin", "lacnic", "ripencc"];
const DAILY = 24;
const WEEKLY = 168;

/**
 * Every kind of data that is downloaded. A new one is a row here, and the consumer of its subject. `cve-list` is opt-in: NVD has
 * what it says, and its archive is the largest of all.
 */
export const FEEDS: readonly FeedDefinition[] = [
  {
    name: "nvd", title: "NVD", subject: "cve", format: "nvd", intervalHours: null,
    source: { kind: "nvd-api", url: "https://services.nvd.nist.gov/rest/json/cves/2.0" },
    maxBytes: 250 * MB, maxUnpackedBytes: 2 * GB, maxRatio: MAX_RATIO, minRecords: 250_000, maxDropPercent: 1, maxShareDropPercent: 5,
    mark: { record: '"sourceIdentifier"', configured: '"configurations"', end: "}" },
    // NVD allows 5 requests in 30 seconds without a key and 50 with one. https://nvd.nist.gov/developers/start-here
    spacingMs: [6000, 600],
  },
  {
    name: "cve-list", title: "CVE list", subject: "cve", format: "cve-list", isOptIn: true, intervalHours: null,
    source: { kind: "releases", url: "https://api.github.com/repos/CVEProject/cvelistV5/releases" },
    ...PLAIN, maxBytes: 3 * GB, maxUnpackedBytes: 20 * GB, mark: { record: ".json" }, minRecords: 250_000, maxDropPercent: 1,
  },
  {
    name: "kev", title: "CISA KEV", subject: "cve", format: "kev", intervalHours: null,
    source: {
      kind: "files", url: "https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json",
      files: itself("known_exploited_vulnerabilities.json"),
    },
    ...PLAIN, maxBytes: 50 * MB, maxUnpackedBytes: 200 * MB, mark: { record: '"cveID"', end: "}" }, minRecords: 1000, maxDropPercent: 2,
  },
  {
    name: "epss", title: "EPSS", subject: "cve", format: "epss", intervalHours: null,
    source: {
      kind: "files", url: "https://epss.empiricalsecurity.com/epss_scores-current.csv.gz", files: itself("epss_scores-current.csv.gz"),
    },
    ...PLAIN, maxBytes: 50 * MB, maxUnpackedBytes: 500 * MB, mark: { record: "\nCVE-" }, minRecords: 200_000, maxDropPercent: 2,
  },
  {
    name: "debian", title: "Debian security tracker", subject: "cve", format: "debian-tracker", intervalHours: null,
    source: { kind: "files", url: "https://security-tracker.debian.org/tracker/data/json", files: itself("debian-tracker.json") },
    ...PLAIN, maxBytes: 500 * MB, maxUnpackedBytes: 2 * GB, mark: { record: '"releases"', end: "}" }, minRecords: 20_000, maxDropPercent: 5,
  },
  {
    name: "osv", title: "OSV", subject: "cve", format: "osv", intervalHours: DAILY,
    source: {
      kind: "files", url: "https://osv-vulnerabilities.storage.googleapis.com/",
      files: ["Debian", "Ubuntu", "Alpine"].map((ecosystem) => ({ name: `osv-${ecosystem.toLowerCase()}.zip`, path: `${ecosystem}/all.zip` })),
    },
    ...PLAIN, maxBytes: GB, maxUnpackedBytes: 10 * GB, mark: { record: ".json" }, minRecords: 10_000, maxDropPercent: 5,
  },
  {
    name: "capec", title: "CAPEC", subject: "cve", format: "capec-stix", intervalHours: WEEKLY,
    source: { kind: "files", url: `${RAW}/mitre/cti/master/capec/2.1/stix-capec.json`, files: itself("stix-capec.json") },
    ...PLAIN, maxBytes: 50 * MB, maxUnpackedBytes: 200 * MB, mark: { record: '"attack-pattern"', end: "}" }, minRecords: 400, maxDropPercent: 10,
  },
  {
    name: "cwe", title: "CWE", subject: "cve", format: "cwe-xml", intervalHours: WEEKLY,
    source: { kind: "files", url: "https://cwe.mitre.org/data/xml/cwec_latest.xml.zip", files: itself("cwec_latest.xml.zip") },
    ...PLAIN, maxBytes: 50 * MB, maxUnpackedBytes: 200 * MB, mark: { record: ".xml" }, minRecords: 1, maxDropPercent: 0,
  },
  {
    name: "attack", title: "MITRE ATT&CK", subject: "cve", format: "attack-stix", intervalHours: WEEKLY,
    source: {
      kind: "files", url: `${RAW}/mitre-attack/attack-stix-data/master/enterprise-attack/enterprise-attack.json`,
      files: itself("enterprise-attack.json"),
    },
    ...PLAIN, maxBytes: 200 * MB, maxUnpackedBytes: 500 * MB, mark: { record: '"attack-pattern"', end: "}" }, minRecords: 500, maxDropPercent: 10,
  },
  {
    name: "ctid", title: "CTID mappings of KEV", subject: "cve", format: "ctid-mappings", intervalHours: WEEKLY,
    source: {
      kind: "files", files: itself("kev-attack-enterprise.json"),
      url: `${RAW}/center-for-threat-informed-defense/mappings-explorer/main/mappings/kev/attack-16.1/kev-07.28.2025/enterprise/`
        + "kev-07.28.2025_attack-16.1-enterprise.json",
    },
    ...PLAIN, maxBytes: 50 * MB, maxUnpackedBytes: 100 * MB, mark: { record: '"attack_object_id"', end: "}" }, minRecords: 100, maxDropPercent: 20,
  },
  {
    name: "attack-to-cve", title: "CTID ATT&CK to CVE", subject: "cve", format: "ctid-csv", intervalHours: WEEKLY,
    source: {
      kind: "files", url: `${RAW}/center-for-threat-informed-defense/attack_to_cve/master/Att%26ckToCveMappings.csv`,
      files: itself("AttackToCveMappings.csv"),
    },
    ...PLAIN, maxBytes: 10 * MB, maxUnpackedBytes: 10 * MB, mark: { record: "\nCVE-" }, minRecords: 100, maxDropPercent: 20,
  },
  {
    // RIPE NCC has a copy of each registry's. Of the records only those of addresses are counted.
    name: "countries", title: "Countries of addresses", subject: "countries", format: "rir-delegated", intervalHours: WEEKLY,
    source: {
      kind: "files", url: "https://ftp.ripe.net/pub/stats/",
      files: REGISTRIES.map((name) => ({ name: `delegated-${name}-extended-latest.txt`, path: `${name}/delegated-${name}-extended-latest` })),
    },
    ...PLAIN, maxBytes: 100 * MB, maxUnpackedBytes: 200 * MB, mark: { record: "|ipv" }, minRecords: 200_000, maxDropPercent: 5,
  },
];
