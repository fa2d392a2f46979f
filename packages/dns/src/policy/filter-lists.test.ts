import { expect, test } from "vitest";
import { judge } from "../testing/policy-case.ts";

const filter = (...rules: readonly string[]) => rules.map((text) => ({ format: "adblock", text }) as const);

test("an important exception beats an important block, that an exception, and that a block; whatever list they are in", () => {
  const actionOf = (...rules: readonly string[]) => judge(filter(...rules), "ads.example.com").action;
  expect(actionOf("||example.com^")).toBe("block");
  expect(actionOf("||example.com^", "@@||ads.example.com^")).toBe("allow");
  expect(actionOf("@@||ads.example.com^", "||example.com^$important")).toBe("block");
  expect(actionOf("||example.com^$important", "@@||example.com^$important")).toBe("allow");
  expect(actionOf("||other.com^")).toBe("allow");
});

test("a rewrite beats them all, until an exception takes it away", () => {
  const answerOf = (type: number, ...rules: readonly string[]) => judge(filter(...rules), "nas.example", { query: { type } }).answer;
  const address = { type: 1, data: { kind: "address", address: "10.0.0.5" } };
  expect(answerOf(1, "||nas.example^$dnsrewrite=10.0.0.5", "||nas.example^$important")).toMatchObject({ kind: "records", records: [address] });
  expect(answerOf(28, "||nas.example^$dnsrewrite=10.0.0.5")).toEqual({ kind: "nodata" });
  expect(answerOf(1, "||nas.example^$dnsrewrite=10.0.0.5", "||nas.example^$dnsrewrite=10.0.0.6")).toMatchObject({ records: [address, { data: { address: "10.0.0.6" } }] });
  expect(answerOf(1, "||nas.example^$dnsrewrite=10.0.0.5", "||nas.example^$dnsrewrite=b.example")).toMatchObject({ records: [{ type: 5 }] });
  expect(answerOf(1, "||nas.example^$dnsrewrite=10.0.0.5", "||nas.example^$dnsrewrite=REFUSED")).toEqual({ kind: "refused" });
  expect(answerOf(1, "||nas.example^$dnsrewrite=10.0.0.5", "@@||nas.example^$dnsrewrite=10.0.0.5")).toBeNull();
  expect(answerOf(1, "||nas.example^$dnsrewrite=10.0.0.5", "||nas.example^$dnsrewrite=10.0.0.6", "@@||nas.example^$dnsrewrite=10.0.0.5")).toMatchObject({ records: [{ data: { address: "10.0.0.6" } }] });
  expect(answerOf(1, "||nas.example^$dnsrewrite=10.0.0.5", "@@||nas.example^$dnsrewrite")).toBeNull();
});

test("badfilter takes away the rule that is otherwise the same, in any list and order", () => {
  expect(judge(filter("||a.example^$badfilter", "||a.example^"), "a.example")).toMatchObject({ action: "allow", matches: [] });
  expect(judge(filter("||a.example^$important", "||a.example^$badfilter"), "a.example").action).toBe("block");
  expect(judge(filter("||a.example^$important", "||a.example^$important,badfilter"), "a.example").action).toBe("allow");
});

test("conditions ask for types, clients, and names that are spared", () => {
  const actionOf = (rule: string, name = "a.example", type = 1) => judge(filter(rule), name, { query: { type } }).action;
  expect([actionOf("||a.example^$dnstype=AAAA"), actionOf("||a.example^$dnstype=AAAA", "a.example", 28)]).toEqual(["allow", "block"]);
  expect([actionOf("||a.example^$dnstype=~A"), actionOf("||a.example^$dnstype=~A", "a.example", 28)]).toEqual(["allow", "block"]);
  expect([actionOf("||example^$denyallow=a.example"), actionOf("||example^$denyallow=a.example", "b.example"), actionOf("||example^$denyallow=a.example", "x.a.example")]).toEqual(["allow", "block", "allow"]);
  for (const client of ["192.0.2.20", "192.0.2.0/24", "'Tim\\'s tablet'", "Tim's tablet", "tablet", "~192.0.2.21"]) expect(actionOf(`||a.example^$client=${client.replace("\\", "")}`), client).toBe("block");
  for (const client of ["192.0.2.21", "198.51.100.0/24", "~192.0.2.20", "192.0.2.20|~tablet"]) expect(actionOf(`||a.example^$client=${client}`), client).toBe("allow");
  expect([actionOf("$dnstype=HTTPS,denyallow=a.example", "b.example", 65), actionOf("$dnstype=HTTPS,denyallow=a.example", "a.example", 65)]).toEqual(["block", "allow"]);
});

test("the longest name decides among blocks, and all lists that have the name are named", () => {
  const verdict = judge([
    { format: "adblock", text: "||example.com^", id: "wide", category: "advertising" }, { format: "hosts", text: "0.0.0.0 ads.example.com", id: "exact", category: "malware" },
  ], "ADS.example.com");
  expect(verdict.rule).toMatchObject({ listId: "exact", category: "malware", name: "ads.example.com", scope: "exact" });
  expect(verdict.matches.map(({ listId }) => listId)).toEqual(["exact", "wide"]);
});
