import { describe, expect, test } from "vitest";
import { readIdsBundle } from "./bundle.ts";
import { compileIdsSuppressions, type IdsSuppression, idsCategoryOf, type SuppressibleAlert } from "./suppressions.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000022";
const ANY: IdsSuppression = {
  id: ID, signature_id: null, generator_id: 1, category: null, source: null, destination: null, network: null, device: null, expires_at: null,
};
const ALERT: SuppressibleAlert = {
  signatureId: 2_010_935, generatorId: 1, message: "ET INFO Suspicious inbound", className: "bad-unknown", sourceIp: "10.77.0.66", destinationIp: "2001:db8::7",
  internalMac: "02:00:00:00:00:66",
};
const find = (change: Partial<IdsSuppression>, now = 0) => compileIdsSuppressions([{ ...ANY, ...change }]).find(ALERT, now);

describe("a suppression", () => {
  test.each<[string, Partial<IdsSuppression>]>([
    ["of the signature", { signature_id: 2_010_935 }], ["of the category", { category: "ET INFO" }], ["of the class", { category: "bad-unknown" }],
    ["of the source's network", { source: "10.77.0.0/16" }], ["of the destination", { destination: "2001:DB8:0::7" }], ["of a network of either end", { network: "2001:db8::/32" }],
    ["of a device by its MAC", { device: { ips: [], macs: ["02:00:00:00:00:66"] } }], ["of a device by its address", { device: { ips: ["10.77.0.66"], macs: [] } }],
    ["that ends later", { expires_at: "1970-01-01T00:00:01.000Z" }], ["of an IPv4 address in IPv6", { source: "::ffff:10.77.0.66" }],
  ])("fits %s", (_, change) => expect(find(change)).toBe(ID));

  test.each<[string, Partial<IdsSuppression>]>([
    ["another signature", { signature_id: 1 }], ["the same number of another group", { signature_id: 2_010_935, generator_id: 3 }], ["another category", { category: "ET POLICY" }],
    ["the other end", { source: "2001:db8::7" }], ["another network", { network: "192.168.0.0/16" }], ["another device", { device: { ips: [], macs: [] } }],
    ["that has ended", { expires_at: "1970-01-01T00:00:00.000Z" }], ["a network that is none", { network: "10.0.0.0/33" }],
  ])("does not fit %s", (_, change) => expect(find(change)).toBe(null));
});

test("the category of a rule is in its message", () => {
  expect(["ET INFO x", "ET WEB_SERVER x", "GPL ICMP", "A rule", "SURICATA x", "", "ET "].map(idsCategoryOf))
    .toEqual(["et-info", "et-web-server", "gpl-icmp", "", "", "", ""]);
});

describe("a bundle of rules", () => {
  const bytes = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
  const index = { v: 1, site_id: ID, built_at: "2026-11-20T08:00:00.000Z", rules: 2, addresses: { HOME_NET: "10.0.0.0/8" }, ports: {} };
  const files = (change: Record<string, unknown> = {}) =>
    new Map(Object.entries({ "ids.json": index, "suppressions.json": [ANY], "rules/b.rules": "b", "rules/a.rules": "a", ...change }).map(([path, value]) => [path, bytes(value)]));

  test("is read with its rules in order", () => {
    const read = readIdsBundle(files({ "threshold.config": "t" }));
    expect(read).toMatchObject({ ok: true, bundle: { index, suppressions: [ANY], classification: null, references: null } });
    expect(read.ok && read.bundle.rules.map((one) => new TextDecoder().decode(one))).toEqual(["a", "b"]);
    expect(read.ok && read.bundle.thresholds).toEqual(bytes("t"));
  });

  test.each<[string, Record<string, unknown>]>([
    ["an index of another version", { "ids.json": { ...index, v: 2 } }], ["an index that is no JSON", { "ids.json": "{" }], ["a suppression without parts", { "suppressions.json": [{}] }],
    ["too many suppressions", { "suppressions.json": Array.from({ length: 1001 }, () => ANY) }], ["a variable with a bad name", { "ids.json": { ...index, ports: { "a b": "1" } } }],
  ])("is refused with words for %s", (_, change) => expect(readIdsBundle(files(change))).toMatchObject({ ok: false, message: expect.stringMatching(/\w/) as string }));
});
