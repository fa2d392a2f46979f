import * as z from "zod";
import { FEED_PROBLEMS, FEED_STATES, Id, Instant } from "../values.ts";
import { CVE_DETAILS_EXAMPLE, CVE_FOUND_EXAMPLE } from "./cve-examples.ts";
import { AffectedDevice, CveRemedy, CveSeverity, CvssScore, Share } from "./cve-matches.ts";

/** How far an update is with one feed. */
export const CveUpdateFeed = z.object({
  name: z.string().describe("The feed, as `nvd`."),
  state: z.enum(FEED_STATES).describe(
    "`queued`: its turn comes. `fetching`, `fetched`: its download. `unchanged`: its source has nothing new. `waiting`: its source may not be "
      + "asked yet. `importing`, `imported`: its way into the database. `failed`: `error` says why; the last good data stays.",
  ),
  bytes: z.int().min(0).describe("Bytes that were downloaded."),
  bytes_total: z.int().min(0).nullable().describe("How many there are. Null while unknown."),
  pages: z.int().min(0).describe("Pages or files that were downloaded."),
  records: z.int().min(0).describe("Records in them."),
  records_total: z.int().min(0).nullable().describe("How many there are. Null while unknown."),
  error: z.string().nullable().describe("Why it failed. Null where it did not."),
});
export type CveUpdateFeed = z.infer<typeof CveUpdateFeed>;

/** An update of the local CVE database from its feeds. */
export const CveUpdate = z.object({
  id: Id.describe("The update's id, as `update_id` of `feed_update` on the stream."),
  status: z.enum(["running", "completed", "failed"]).describe("`failed` where a feed failed or the import did. All others are updated then too."),
  trigger: z.enum(["manual", "scheduled"]).describe("Whether a user or the schedule started it."),
  requested_by: z.string().describe("Name of the user who started it, or `schedule`."),
  started_at: Instant.describe("When it was started."),
  finished_at: Instant.nullable().describe("When it ended. Null while it runs."),
  feeds: z.array(CveUpdateFeed).describe("The feeds that it updates, in their order."),
  error: z.string().nullable().describe("Why it failed. Null where it did not."),
});
export type CveUpdate = z.infer<typeof CveUpdate>;

/** A feed of the CVE database. */
const CveFeed = z.object({
  name: z.string().describe("The feed, as `nvd`."),
  title: z.string().describe("Its name for people."),
  updated_at: Instant.nullable().describe("When new data of it was imported last. Null for never."),
  checked_at: Instant.nullable().describe("When its source last answered, also that nothing is new. Null for never."),
  next_at: Instant.nullable().describe("When it is due again. Null where updates are disabled."),
  records: z.int().min(0).nullable().describe("Records of its last whole download. Null while unknown."),
  problems: z.array(z.enum(FEED_PROBLEMS)).describe("What is wrong with it. Each raises an alert of the operator."),
  error: z.string().nullable().describe("Why the last download failed. Null where it did not."),
});

/** The local CVE database: how large and how old it is, and where it comes from. */
export const CveDatabaseInfo = z.object({
  total_entries: z.int().min(0).describe("CVEs in the database."),
  last_update: Instant.nullable().describe("When new data was imported last. Null for never."),
  update_source: z.string().describe("The public feed that most entries come from, as `NVD`."),
  next_scheduled_update: Instant.nullable().describe("When the next scheduled update starts. Null where updates are disabled."),
  updating: z.boolean().describe("Whether an update runs now."),
  update: CveUpdate.nullable().describe("The last update that the caller's tenant started, or the schedule for the operator. Null for none."),
  feeds: z.array(CveFeed).describe("The feeds that it is made of."),
});
export type CveDatabaseInfo = z.infer<typeof CveDatabaseInfo>;

/** What is looked for in the CVE database. */
export const CveSearchQuery = z.object({
  q: z.string().trim().max(200).default("").describe("Words, all of which are in the description, the last one perhaps begun; or the beginning of a CVE id. Without one, nothing is found.").meta({ examples: ["openssh race"] }),
  cvss_min: z.coerce.number().min(0).max(10).optional().describe("Only CVEs with this CVSS score or more."),
  page: z.coerce.number().int().min(1).max(100).default(1).describe("The page, from 1 to 100."),
  per_page: z.coerce.number().int().min(1).max(100).default(100).describe("The most records on a page, 1 to 100."),
});
export type CveSearchQuery = z.infer<typeof CveSearchQuery>;

/** A CVE that a search has found. */
export const CveFound = z.object({
  cve_id: z.string().describe("The CVE's id, as `CVE-2024-6387`."),
  description: z.string().describe("What the vulnerability is."),
  severity: CveSeverity.nullable().describe("Its severity by CVSS. Null where nobody has rated it."),
  cvss_score: CvssScore.nullable().describe("Its CVSS base score, 0 to 10. Null where nobody has rated it."),
  published: z.iso.date().nullable().describe("The day on which it was published. Null where unknown."),
  known_exploited: z.boolean().describe("Whether CISA lists it as exploited in the wild."),
  epss: Share.nullable().describe("The chance that it is exploited in the next 30 days, 0 to 1. Null where unknown."),
}).meta({ examples: [CVE_FOUND_EXAMPLE] });
export type CveFound = z.infer<typeof CveFound>;

/** All that the database knows of one CVE. */
export const CveDetails = CveFound.extend({
  rejected: z.boolean().describe("Whether it was withdrawn: then it names no vulnerability."),
  last_modified: Instant.describe("When its record was changed last."),
  epss_percentile: Share.nullable().describe("The share of all CVEs with a lower EPSS score, 0 to 1. Null where unknown."),
  cvss: z.array(z.object({
    version: z.string().describe("The version of CVSS, as `3.1`."),
    vector: z.string().describe("The vector, as `CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H`."),
    score: CvssScore.describe("The base score, 0 to 10."),
    severity: CveSeverity.describe("The severity that the score means."),
    source: z.string().describe("Who has rated it."),
  })).describe("All ratings, the best first: primary ones before others, newer versions of CVSS before older ones."),
  weaknesses: z.array(z.string()).describe("Its weaknesses, as `CWE-362`."),
  kev: z.object({
    name: z.string().describe("The name that CISA gives it."),
    added_on: z.iso.date().describe("The day on which it was added to the catalog."),
    due_on: z.iso.date().nullable().describe("The day by which United States agencies must act. Null where none is given."),
    ransomware: z.boolean().describe("Whether campaigns with ransomware are known to use it."),
  }).nullable().describe("Its entry in CISA's catalog of known exploited vulnerabilities. Null where there is none."),
  references: z.array(z.object({
    url: z.string().describe("The address of the page."),
    tags: z.array(z.string()).describe("What the page is, as `Vendor Advisory` or `Patch`."),
  })).describe("Pages about it."),
  affected: z.array(z.object({
    cpe: z.string().describe("The product's CPE 2.3 name."),
    range: z.string().describe("The versions that are meant, as `>= 8.5p1 and < 9.8`."),
    vulnerable: z.boolean().describe("Whether the product is vulnerable itself. False for what it must run on or with."),
  })).describe("The products that it names, with their versions; at most 1000."),
  mitre_techniques: z.array(z.object({
    technique_id: z.string().describe("The MITRE ATT&CK technique, as `T1190`."),
    name: z.string().describe("The technique's name; its id where the name is not known."),
    tactics: z.array(z.string()).describe("The tactics that it serves, as `initial-access`."),
    provenance: z.enum(["curated", "derived"]).describe("`curated`: people have mapped this CVE. `derived`: by its weaknesses and their attack patterns."),
    source: z.string().describe("The mapping's feed, or the attack pattern."),
  })).describe("MITRE ATT&CK techniques that go with it."),
  affected_devices: z.array(AffectedDevice)
    .describe("Devices of yours that it counts for: open, and likely or confirmed; at most 100. `GET /cve/affected` and its export have all."),
  affected_devices_total: z.int().min(0).describe("How many devices of yours it counts for."),
  remediation: z.object({
    fixed_versions: z.array(CveRemedy).describe("What to update to, by product, as the ranges of versions say."),
    packages: z.array(z.object({
      distribution: z.string().describe("The distribution, as `debian`."),
      release: z.string().describe("Its release, as `bookworm`."),
      package: z.string().describe("The source package, as `openssh`."),
      status: z.string().describe("What the distribution says: `fixed`, `not-affected`, `open` or `undetermined`."),
      fixed_version: z.string().describe("The package's version from which on it is fixed. Empty where there is none."),
    })).describe("What distributions say of their own packages."),
    required_action: z.string().nullable().describe("What CISA wants to be done. Null where it is not in its catalog."),
    vendor_advisories: z.array(z.string()).describe("Addresses of the makers' own advisories."),
    mitigations: z.array(z.object({
      mitigation_id: z.string().describe("The MITRE ATT&CK mitigation, as `M1051`."),
      name: z.string().describe("The mitigation's name."),
      technique_id: z.string().describe("The technique against which it helps."),
      description: z.string().describe("How it helps against that technique. Empty where ATT&CK does not say it."),
    })).describe("What MITRE ATT&CK recommends against the techniques, at most 100."),
  }).describe("What to do about it."),
}).meta({ examples: [CVE_DETAILS_EXAMPLE] });
export type CveDetails = z.infer<typeof CveDetails>;
