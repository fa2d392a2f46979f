import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readList } from "../testing/read-list.ts";
import { bodyOf, PLAIN_ALLOW } from "./list-rule.ts";
import { createListReader, LIST_PARSERS, type ListFormat } from "./list-reader.ts";

const FORMATS = Object.keys(LIST_PARSERS) as ListFormat[];
const reasons = (report: ReturnType<typeof readList>) => report.refusals.map(({ line, reason }) => `${line}: ${reason}`);

test("a file of hosts blocks by the unspecified and the loopback address, answers by others, and its own names are no rules", () => {
  const text = "# hosts\n127.0.0.1 localhost\n::1 ip6-localhost\nfe80::1%lo0 localhost\n0.0.0.0 a.example b.example # two\n:: c.example\r\n10.0.0.5\tnas.example\n1.2.3 d.example\n0.0.0.0 no_*";
  const list = readList("hosts", text);
  const record = { type: 1, ttlSeconds: 300, data: { kind: "address", address: "10.0.0.5" } } as const;
  expect(list.read).toEqual([
    { name: "a.example", scope: "exact" }, { name: "b.example", scope: "exact" }, { name: "c.example", scope: "exact" },
    { name: "nas.example", scope: "exact", body: bodyOf({ kind: "records", records: [record] }) },
  ]);
  expect(list).toMatchObject({ lines: 9, rules: 4, refused: 2, refusals: [{ line: 8, text: "1.2.3 d.example" }, { line: 9 }] });
  expect(readList("hosts", text, { mayRewrite: false }).refused).toBe(3);
});

test("names alone are exact, and a star means the name and all below it", () => {
  expect(readList("domains", "a.example\n# no\n! no\nb.example # yes\n*.c.example\nhttp://d.example/").read).toEqual([
    { name: "a.example", scope: "exact" }, { name: "b.example", scope: "exact" },
  ]);
  expect(readList("wildcard", "*.a.example\nb.example\n*.*.example").read).toEqual([{ name: "a.example", scope: "both" }, { name: "b.example", scope: "exact" }]);
});

test("dnsmasq's options block, answer and except", () => {
  const list = readList("dnsmasq", "# x\naddress=/a.example/b.example/0.0.0.0\nlocal=/c.example/\nserver=/d.example/#\naddress=/e.example/#\naddress=/f.example/\nserver=/g.example/10.0.0.1\nport=53\naddress=/#/1.2.3.4");
  expect(list.read).toEqual([
    { name: "a.example", scope: "both" }, { name: "b.example", scope: "both" }, { name: "c.example", scope: "both", body: bodyOf({ kind: "block", answer: "nxdomain" }) },
    { name: "d.example", scope: "both", body: PLAIN_ALLOW }, { name: "e.example", scope: "both" },
    { name: "f.example", scope: "both", body: bodyOf({ kind: "block", answer: "nxdomain" }) },
  ]);
  expect(reasons(list)).toEqual(["7: forwards to a server", "8: is no option with names between slashes", "9: is no name of a host"]);
});

test("adblock rules are read with their scope, and what is no name of a host is refused", () => {
  const list = readList("adblock", [
    "[Adblock Plus]", "! comment", "||a.example^", "@@||b.example^|", "|c.example^", "d.example", "||*.e.example^", "0.0.0.0 f.example", "/ads[0-9]/", "||g.example/path", "example.com##.ad",
    "||h.*^", "-ads.", "||i.example^$third-party", "||j.example^$important=1",
  ].join("\n"));
  expect(list.read).toEqual([
    { name: "a.example", scope: "both" }, { name: "b.example", scope: "both", body: PLAIN_ALLOW }, { name: "c.example", scope: "exact" }, { name: "d.example", scope: "exact" },
    { name: "e.example", scope: "subdomains" }, { name: "f.example", scope: "exact" },
  ]);
  expect(list.refused).toBe(7);
  expect(reasons(list)).toContain("14: has the unknown modifier \"third-party\"");
});

test("adblock modifiers become conditions and effects", () => {
  const none = { isImportant: false, types: [], areTypesExcluded: false, clients: [], exceptNames: [] };
  const block = { kind: "block", answer: "default" };
  const bodyOfRule = (rule: string) => readList("adblock", rule).read[0]?.body;
  expect(bodyOfRule("||a.example^$important")).toEqual({ effect: block, conditions: { ...none, isImportant: true }, isCancel: false });
  expect(bodyOfRule("||a.example^$dnstype=AAAA|A")?.conditions).toEqual({ ...none, types: [1, 28] });
  expect(bodyOfRule("||a.example^$dnstype=~HTTPS")?.conditions).toEqual({ ...none, types: [65], areTypesExcluded: true });
  expect(bodyOfRule("||a.example^$client=10.0.0.0/8|~'Ann\\, and Bob'|FE80::1")?.conditions?.clients).toEqual([
    { isExcluded: false, text: "10.0.0.0/8" }, { isExcluded: true, text: "Ann, and Bob" }, { isExcluded: false, text: "fe80::1" },
  ]);
  expect(bodyOfRule("||example^$denyallow=a.example|B.example")?.conditions?.exceptNames).toEqual(["a.example", "b.example"]);
  expect(bodyOfRule("||a.example^$badfilter")).toEqual({ effect: block, conditions: null, isCancel: true });
  expect(bodyOfRule("||a.example^$dnsrewrite=REFUSED")?.effect).toEqual({ kind: "rewrite", answer: "refused", records: [] });
  expect(bodyOfRule("||a.example^$dnsrewrite=NOERROR;;")?.effect).toEqual({ kind: "rewrite", answer: "nodata", records: [] });
  expect(bodyOfRule("||a.example^$dnsrewrite=::1")?.effect).toMatchObject({ records: [{ type: 28, data: { address: "::1" } }] });
  expect(bodyOfRule("||a.example^$dnsrewrite=b.example")?.effect).toMatchObject({ records: [{ type: 5, data: { name: "b.example" } }] });
  expect(bodyOfRule("||a.example^$dnsrewrite=NOERROR;MX;32 m.example")?.effect).toMatchObject({ records: [{ type: 15, data: { preference: 32, exchange: "m.example" } }] });
  expect(bodyOfRule("@@||a.example^$dnsrewrite")?.effect).toEqual({ kind: "no-rewrite", rewrite: null });
  expect(bodyOfRule("$dnstype=AAAA,denyallow=a.example,dnsrewrite=NOERROR;;")?.conditions).toMatchObject({ types: [28] });
  for (const rule of ["||a.example^$dnstype=A|~AAAA", "||a.example^$dnstype=NO", "||a.example^$client=", "||a.example^$dnsrewrite", "||a.example^$dnsrewrite=NOERROR;HTTPS;1 .", "$important", "*"]) {
    expect(readList("adblock", rule).refused, rule).toBe(1);
  }
});

test("a line that never ends is refused once and costs no memory; the lines around it are read", () => {
  const list = readList("domains", `a.example\n${"x".repeat(100_000)}\nb.example`, {}, 1000);
  expect(list.read.map(({ name }) => name)).toEqual(["a.example", "b.example"]);
  expect(list).toMatchObject({ lines: 3, refused: 1 });
  expect(list.refusals[0]?.text).toHaveLength(80);
});

test("refused lines are counted, and the first hundred kept", () => {
  const list = readList("domains", "?\n".repeat(500));
  expect([list.refused, list.refusals.length]).toEqual([500, 100]);
});

test("the pieces in which a list comes make no difference, and no bytes are too strange for any format", () => {
  const line = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.constantFrom("||bü.example^$dnstype=A", "a 60 IN CNAME .", "( ; \"", ")", "$ORIGIN x.", "address=/a/", "1.2.3.4 a.b"));
  fc.assert(fc.property(fc.constantFrom(...FORMATS), fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 40 }), (format, lines, length) => {
    const text = lines.join("\n");
    expect(readList(format, text, {}, length)).toEqual(readList(format, text, {}, 100_000));
  }), { numRuns: 500 });
  for (const format of FORMATS) {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const reader = createListReader(format, { mayRewrite: true, origin: "z.example" }, () => undefined);
      reader.push(bytes);
      reader.end();
    }));
  }
});
