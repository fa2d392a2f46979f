import type { CvssMetric, Reference, Statement } from "@lanthorn/vulnerability";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  packMetrics, packReferences, packStatements, plainName, productOf, unpackMetrics, unpackReferences, unpackStatements,
} from "./pack.ts";

const attribute = fc.constantFrom("*", "-", "a", "9.2", "p1", "laser\\-jet", "odd\\:name", "10.0\\(1\\)");
const criteria = fc.oneof(
  fc.array(attribute, { minLength: 11, maxLength: 11 }).map((parts) => `cpe:2.3:${parts.join(":")}`), fc.constant("cpe:/a:old:form"), fc.string(),
);
const bound = fc.option(fc.record({ version: fc.string({ minLength: 1 }), isIncluded: fc.boolean() }));
const operator = fc.constantFrom("and" as const, "or" as const);
const match = fc.record({
  isVulnerable: fc.boolean(), criteria, from: bound, to: bound,
  order: fc.constantFrom("general" as const, "debian" as const, "rpm" as const, "semver" as const, "cisco" as const, "junos" as const),
});
const node = fc.record({ operator, isNegated: fc.boolean(), matches: fc.array(match) });
const statements: fc.Arbitrary<Statement[]> = fc.array(fc.record({ operator, isNegated: fc.boolean(), nodes: fc.array(node, { maxLength: 4 }) }));

test("statements come back as they were", () => {
  fc.assert(fc.property(statements, (all) => {
    expect(unpackStatements(packStatements(all))).toEqual(all);
  }));
});

test("versions of one product name it once", () => {
  const matches = ["9.2", "9.3"].map((version) => ({
    isVulnerable: true, criteria: `cpe:2.3:a:openbsd:openssh:${version}:*:*:*:*:*:*:*`, from: null, to: null, order: "general" as const,
  }));
  expect(packStatements([{ operator: "or", isNegated: false, nodes: [{ operator: "or", isNegated: false, matches }] }]))
    .toBe('[["",["","a:openbsd:openssh",["9.2","9.3"]]]]');
  expect(packStatements([])).toBe("");
});

test("metrics and references come back as they were", () => {
  const metric: CvssMetric = {
    version: "3.1", vector: "CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H", score: 8.1, severity: "high", source: "nvd@nist.gov", isPrimary: true,
  };
  const metrics = [metric, { ...metric, version: "2.0" as const, severity: "medium" as const, isPrimary: false }];
  expect(unpackMetrics(packMetrics(metrics))).toEqual(metrics);
  const references: Reference[] = [{ url: "https://example.org/1", tags: [] }, { url: "https://example.org/2", tags: ["Patch", "Vendor Advisory"] }];
  expect(unpackReferences(packReferences(references))).toEqual(references);
  expect([packMetrics([]), packReferences([])]).toEqual(["", ""]);
});

test("what is no text of ours unpacks to nothing", () => {
  for (const text of ["", "{", "null", "{}"]) expect([unpackStatements(text), unpackMetrics(text), unpackReferences(text)]).toEqual([[], [], []]);
});

test("a product is found however a feed has quoted it", () => {
  expect(productOf("cpe:2.3:h:HP:laser\\-jet:-:*:*:*:*:*:*:*")).toEqual({ vendor: "hp", product: "laser-jet" });
  expect(productOf("cpe:2.3:a:x:odd\\:name:1:*:*:*:*:*:*:*")).toEqual({ vendor: "x", product: "odd:name" });
  expect(plainName("Laser\\-Jet")).toBe("laser-jet");
  expect(productOf("cpe:/a:old:form")).toBeNull();
  expect(productOf("")).toBeNull();
});
