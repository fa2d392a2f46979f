import type { AffectedCve, AffectedDevice, CveDetails } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { createSuppression, listAffected, readStats, showCve } from "./cve.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const AT = "2026-11-20T08:15:30.250Z";
const device: AffectedDevice = {
  device_id: ID, ip: "10.0.0.5", hostname: "nas\u001B[2J", site_id: ID, matched_service: "ssh", matched_port: 22, protocol: "tcp", product: "openbsd:openssh", version: "9.2p1",
  confidence: "confirmed", status: "open", cpe: "cpe:2.3:a:openbsd:openssh:*:*:*:*:*:*:*:*", range: "< 9.8", reasons: ["The record names this version."],
  remedies: [{ product: "openbsd:openssh", fixed: ["9.8"], last_affected: [] }], first_seen: AT, last_seen: AT, suppression: null,
};
const cve: AffectedCve = {
  cve_id: "CVE-2024-6387", description: "A race in sshd.", cvss_score: 8.1, severity: "high", published: "2024-07-01", known_exploited: true, epss: 0.942,
  affected_devices: [device], affected_devices_total: 12, references: [], mitre_techniques: ["T1190"],
};
const connect = (calls: object) => ({ rest: calls }) as unknown as Connection;

test("CVEs are a table with the severity in color, and say how many more there are", async () => {
  const queries: unknown[] = [];
  const connection = connect({
    listAffectedCves(query: unknown) {
      queries.push(query);
      return Promise.resolve({ data: [cve, { ...cve, cve_id: "CVE-2024-0001", severity: null, cvss_score: null, known_exploited: false, epss: null }], meta: { page: 1, per_page: 2, total: 9, next_cursor: null } });
    },
  });
  const answer = await listAffected(connection, { severity: "high", exploited: true, limit: "2" });
  expect(queries).toEqual([expect.objectContaining({ severity: "high", known_exploited: true, per_page: 2 })]);
  expect(formatAnswer(answer, false).split("\n")).toEqual([
    "CVE            SEVERITY  CVSS  EXPLOITED  EPSS    DEVICES  SOFTWARE               WHERE",
    "CVE-2024-6387  high      8.1   yes        94.2 %  12       openbsd:openssh 9.2p1  nas?[2J 22/tcp, and 11 more",
    "CVE-2024-0001  unrated   -     -          -       12       openbsd:openssh 9.2p1  nas?[2J 22/tcp, and 11 more",
    "", "2 of 9 CVEs. More with --limit, all with --csv.", "", "What it is and what to do: lanthorn cve show CVE-2024-6387",
  ]);
  const colored = formatAnswer(answer, false, 200, true).split("\n");
  expect([colored[1], colored[2]?.includes("\u001B")]).toEqual([expect.stringContaining("CVE-2024-6387  \u001B[31mhigh\u001B[0m      8.1"), false]);
  await expect(listAffected(connection, { limit: "many" })).rejects.toMatchObject({ code: "bad-option" });
});

test("software is named once with its versions in order, and an empty list says whether there was anything to look in", async () => {
  const versions = ["7.4.18", "7.4.5", "7.4.11", "7.4.9", ""].map((version) => ({ ...device, product: "php:php", version }));
  const answerOf = (data: readonly AffectedCve[], stats: object = {}) => listAffected(connect({
    listAffectedCves: () => Promise.resolve({ data, meta: { page: 1, per_page: 2, total: data.length, next_cursor: null } }), readCveStats: () => Promise.resolve(stats),
  }), { limit: "2" });
  const one = await answerOf([{ ...cve, affected_devices: [...versions, device] }]);
  expect(formatAnswer(one, false)).toContain("php:php 7.4.5, 7.4.9, 7.4.11, and 2 more; openbsd:openssh 9.2p1");
  expect(formatAnswer(await answerOf([], { last_db_update: AT, db_total_cves: 203_114 }), false)).toContain("among 203114 known CVEs");
  expect(formatAnswer(await answerOf([], { last_db_update: null, db_total_cves: 0 }), false)).toContain("no CVE database yet");
});

test("a CVE says what it is, what to do and which devices have it", async () => {
  const details: CveDetails = {
    ...cve, description: "A race\r\n  in   sshd:\n\n- one\n", rejected: false, last_modified: AT, epss_percentile: 0.998, weaknesses: ["CWE-362"], references: [],
    cvss: [{ version: "3.1", vector: "CVSS:3.1/AV:N", score: 8.1, severity: "high", source: "nvd@nist.gov" }],
    kev: { name: "OpenSSH race", added_on: "2024-07-02", due_on: null, ransomware: true },
    affected: [{ cpe: device.cpe, range: "< 9.8", vulnerable: true }],
    mitre_techniques: [{ technique_id: "T1190", name: "Exploit Public-Facing Application", tactics: [], provenance: "curated", source: "ctid" }],
    remediation: {
      fixed_versions: [{ product: "openbsd:openssh", fixed: ["9.8"], last_affected: [] }], required_action: "Apply updates.", vendor_advisories: ["https://example.org/a"],
      mitigations: [{ mitigation_id: "M1051", name: "Update Software", technique_id: "T1190", description: "" }],
      packages: [{ distribution: "debian", release: "bookworm", package: "openssh", status: "fixed", fixed_version: "1:9.2p1-2+deb12u3" }],
    },
  };
  const answer = await showCve(connect({ readCve: () => Promise.resolve(details) }), "CVE-2024-6387");
  expect(formatAnswer(answer, false)).toBe(`CVE-2024-6387  high 8.1  exploited in the wild

A race
in sshd:
- one

published       2024-07-01
CVSS            CVSS:3.1/AV:N by nvd@nist.gov
EPSS            94.2 % chance of being exploited within 30 days, more than 99 % of all CVEs
exploited       in CISA's catalog since 2024-07-02, used by ransomware: OpenSSH race
weaknesses      CWE-362
MITRE ATT&CK    T1190 Exploit Public-Facing Application (curated)

what to do      Apply updates.
fixed in        openbsd:openssh 9.8
fixed packages  debian bookworm: openssh 1:9.2p1-2+deb12u3
mitigations     M1051 Update Software (T1190)
advisories      https://example.org/a

12 of your devices are affected
DEVICE   SERVICE     SOFTWARE               AFFECTED VERSIONS  CONFIDENCE  FIXED IN
nas?[2J  ssh 22/tcp  openbsd:openssh 9.2p1  < 9.8              confirmed   9.8
All of them: lanthorn cve affected --csv --search CVE-2024-6387

what it names
CPE                                        VERSIONS
${device.cpe}  < 9.8`);
});

test("a suppression needs a place, and statistics say what to do about an empty database", async () => {
  await expect(createSuppression(connect({}), { cve: "CVE-2024-6387", reason: "x" }, 0)).rejects.toMatchObject({ code: "bad-option" });
  const stats = { total_matched: 0, by_severity: { critical: 0, high: 0, medium: 0, low: 0 }, known_exploited: 0, affected_devices: 0, last_db_update: null, db_total_cves: 0 };
  expect(formatAnswer(await readStats(connect({ readCveStats: () => Promise.resolve(stats) }), undefined), false)).toContain("empty; fill it with: lanthorn cve update");
});
