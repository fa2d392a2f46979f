import { expect, test } from "vitest";
import { bytesOf } from "../testing/rule-text.ts";
import { parseClassifications, parseReferences } from "./configuration-files.ts";
import { parseThresholds } from "./threshold-file.ts";

test("classes have a description and a priority, and the first of a name counts", () => {
  const { entries, faults } = parseClassifications(bytesOf(
    "# comment\nconfig classification: Web-Attack,An attack,1\nconfig classification: web-attack,Again,2\nconfig classification: broken,1\nconfig reference: a http://b\nconfig classification: x,y,0\n",
  ));
  expect([...entries]).toEqual([["web-attack", { name: "Web-Attack", description: "An attack", priority: 1 }]]);
  expect(faults.map(({ line }) => line)).toEqual([4, 5, 6]);
});

test("references have the beginning of a URL", () => {
  const { entries, faults } = parseReferences(bytesOf("config reference: cve https://example.org/cve?\nconfig reference: md5 javascript:alert\n"));
  expect([...entries]).toEqual([["cve", "https://example.org/cve?"]]);
  expect(faults.map(({ line }) => line)).toEqual([2]);
});

test("threshold.config suppresses, limits, and changes what a rule does", () => {
  const { entries, faults } = parseThresholds(bytesOf([
    "suppress gen_id 1, sig_id 2000001",
    "suppress gen_id 1, sig_id 2000002, track by_src, ip 192.0.2.1",
    "suppress gen_id 1, sig_id 2000003, track by_either, ip [192.0.2.0/24, !192.0.2.7]",
    "threshold gen_id 1, sig_id 0, type limit, track by_dst, count 1, seconds 60",
    "rate_filter gen_id 1, sig_id 5, track by_rule, count 10, seconds 60, new_action drop, timeout 300",
  ].join("\n")));
  expect(faults).toEqual([]);
  const base = 0xc000_0200;
  expect(entries).toEqual([
    { kind: "suppress", gid: 1, id: 2_000_001, track: null, addresses: null },
    { kind: "suppress", gid: 1, id: 2_000_002, track: "source", addresses: { isAny: false, ipv4: [base + 1, base + 1], ipv6: [] } },
    { kind: "suppress", gid: 1, id: 2_000_003, track: "either", addresses: { isAny: false, ipv4: [base, base + 6, base + 8, base + 255], ipv6: [] } },
    { kind: "threshold", gid: 1, id: 0, threshold: { kind: "limit", track: "destination", count: 1, seconds: 60, multiplier: 0 } },
    { kind: "rate-filter", gid: 1, id: 5, track: "rule", count: 10, seconds: 60, action: "drop", timeoutSeconds: 300 },
  ]);
});

test.each([
  "suppress gen_id 1", "suppress gen_id 1, sig_id 1, track by_src", "suppress gen_id 1, sig_id 1, track by_src, ip nothing", "threshold gen_id 1, sig_id 1, type limit", "mute gen_id 1, sig_id 1",
  "rate_filter gen_id 1, sig_id 5, track by_rule, count 10, seconds 60, new_action constructor, timeout 300",
])("%s is a fault of its line", (line) => {
  const { entries, faults } = parseThresholds(bytesOf(`\n${line}`));
  expect([entries, faults.map((fault) => fault.line)]).toEqual([[], [2]]);
});
