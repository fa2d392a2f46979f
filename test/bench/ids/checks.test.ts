import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCases } from "./cases.ts";
import { judgeAlerts } from "./checks.ts";
import { unmetRequirement } from "./requirements.ts";
import { readSettings } from "./settings.ts";

const ALERTS = [
  { event_type: "alert", src_ip: "10.0.0.1", dest_port: 80, app_proto: "http", alert: { signature_id: 1, action: "allowed" }, http: { hostname: "a.example" } },
  { event_type: "alert", src_ip: "10.0.0.2", dest_port: 80, app_proto: "http", alert: { signature_id: 1, action: "allowed" } },
];
const judge = (...checks: readonly Record<string, unknown>[]) => judgeAlerts(checks, ALERTS, "/");

test("a check holds with exactly its count of alerts", () => {
  expect(judge({ count: 2, match: { event_type: "alert", "alert.signature_id": 1 } }).failed).toEqual([]);
  expect(judge({ count: 1, match: { event_type: "alert", "alert.signature_id": 1 } }).failed).toHaveLength(1);
  expect(judge({ count: 1, match: { event_type: "alert", "alert.signature_id": 1, "http.hostname": "a.example" } }).failed).toEqual([]);
  expect(judge({ count: 1, match: { event_type: "alert" }, "not-match": { src_ip: "10.0.0.1" } }).failed).toEqual([]);
  expect(judge({ count: ">= 2", match: { event_type: "alert" } }, { match: { event_type: "alert" } }, { count: "< 2", match: { event_type: "alert" } }).failed).toHaveLength(1);
});

test("fields that no alert has are left out, and then at least so many alerts are wanted", () => {
  const { failed, compared, leftOut } = judge({ count: 1, match: { event_type: "alert", "alert.signature_id": 1, pcap_cnt: 4 } }, { count: 1, match: { event_type: "alert", "alert.signature_id": 1, pcap_cnt: 9 } });
  expect({ failed, compared, leftOut: [...leftOut] }).toEqual({ failed: [], compared: 2, leftOut: [["pcap_cnt", 2]] });
  expect(judge({ count: 3, match: { event_type: "alert", pcap_cnt: 4 } }).failed).toHaveLength(1);
});

test("checks on other events, and on what alerts lack without their other fields, are not ours", () => {
  const { compared, notOurs } = judge({ count: 1, match: { event_type: "flow" } }, { count: 0, match: { event_type: "alert", "not-has-key": "pcap_cnt" } }, { count: 1, filename: "stats.log", match: { event_type: "alert" } });
  expect({ compared, notOurs }).toEqual({ compared: 0, notOurs: 3 });
});

test("endings of keys ask for parts and lengths", () => {
  const { failed } = judge({ count: 1, match: { event_type: "alert", "http.hostname.__startswith": "a." } }, { count: 1, match: { event_type: "alert", "http.hostname.__len": 9 } }, { count: 2, match: { event_type: "alert", "src_ip.__find": "10.0" } });
  expect(failed).toEqual([]);
});

test("checks and cases of other versions are left out", () => {
  expect(judge({ requires: { "min-version": "8" }, count: 9, match: { event_type: "alert" } }).compared).toBe(0);
  expect(unmetRequirement({ "min-version": "7.0.4" }, "/")).toBeNull();
  expect(unmetRequirement({ "lt-version": "7" }, "/")).not.toBeNull();
  expect(unmetRequirement({ "gt-version": "7.0.10" }, "/")).not.toBeNull();
  expect(unmetRequirement({ features: ["HAVE_LUA"] }, "/")).not.toBeNull();
  expect(unmetRequirement({ script: ["true"] }, "/")).not.toBeNull();
});

test("cases are read from nested folders, with their settings; what cannot be read is named", () => {
  const root = mkdtempSync(join(tmpdir(), "lanthorn-ids-cases-"));
  try {
    const files: Readonly<Record<string, string>> = {
      "a/test.yaml": "args:\n- -k none --set stream.midstream=true\n- --set app-layer.protocols.http.libhtp.default-config.response-body-limit=200kb\nchecks:\n- filter:\n    count: 1\n    match:\n      event_type: alert\n- shell:\n    args: 'true'\n",
      "a/test.rules": "", "a/input.pcap": "", "a/suricata.yaml": "%YAML 1.1\n---\nvars:\n  address-groups:\n    HOME_NET: '[10.1.0.0/16]'\nstream:\n  async-oneside: yes\n",
      "b/deep/test.yaml": "pcap: ../../a/input.pcap\nrequires:\n  min-version: 6\nchecks: []\n", "c/test.yaml": "checks: 1\n",
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const { cases: [first, second], unreadable } = readCases(root);
    expect(unreadable.map(({ name }) => name)).toEqual(["c"]);
    expect(first).toMatchObject({ name: "a", rules: join(root, "a/test.rules"), capture: join(root, "a/input.pcap"), otherChecks: ["shell"], filters: [{ count: 1 }] });
    expect(first && readSettings(first)).toMatchObject({ isMidstream: true, isOneSided: true, responseBody: 200 * 1024, requestBody: 100 * 1024, addresses: { HOME_NET: "[10.1.0.0/16]" } });
    expect(second).toMatchObject({ name: "b/deep", capture: join(root, "a/input.pcap"), requires: { "min-version": "6" }, rules: null });
  } finally {
    rmSync(root, { recursive: true });
  }
});
