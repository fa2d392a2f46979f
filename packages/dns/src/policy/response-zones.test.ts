import { expect, test } from "vitest";
import { judge } from "../testing/policy-case.ts";
import type { DnsRules } from "./policy.ts";

const zones = (...texts: readonly string[]) => texts.map((text) => ({ format: "rpz", text }) as const);
const answer = (...addresses: readonly string[]) => ({ addresses: addresses.map((one) => Uint8Array.from(one.split(".").map(Number))) });

test("every action is carried out", () => {
  const verdictOf = (action: string, query = {}) => judge(zones(`a.example ${action}`), "a.example", { query });
  expect(verdictOf("CNAME .")).toMatchObject({ action: "block", answer: { kind: "nxdomain" } });
  expect(verdictOf("CNAME *.")).toMatchObject({ action: "block", answer: { kind: "nodata" } });
  expect(verdictOf("CNAME rpz-passthru.")).toMatchObject({ action: "allow", reason: "exception" });
  expect(verdictOf("CNAME rpz-drop.")).toMatchObject({ action: "drop", answer: null });
  expect(verdictOf("CNAME rpz-tcp-only.")).toMatchObject({ action: "truncate" });
  expect(verdictOf("CNAME rpz-tcp-only.", { isUdp: false })).toMatchObject({ action: "allow" });
  expect(verdictOf("A 192.0.2.9\n A 192.0.2.8\n TXT x")).toMatchObject({ action: "rewrite", answer: { kind: "records", records: [{ data: { address: "192.0.2.9" } }, { data: { address: "192.0.2.8" } }] } });
  expect(verdictOf("A 192.0.2.9", { type: 28 })).toMatchObject({ action: "rewrite", answer: { kind: "nodata" } });
  expect(verdictOf("CNAME *.garden.example")).toMatchObject({ answer: { records: [{ type: 5, data: { name: "*.garden.example" } }] } });
});

test("an exact name beats a wildcard, and a longer wildcard a shorter one", () => {
  const text = "*.example CNAME .\n*.b.example CNAME *.\na.b.example CNAME rpz-drop.";
  const actionOf = (name: string) => {
    const { action, answer: given } = judge(zones(text), name);
    return given?.kind ?? action;
  };
  expect(["a.b.example", "x.b.example", "b.example", "example"].map(actionOf)).toEqual(["drop", "nodata", "nxdomain", "allow"]);
  // A name that the zone has stands before the wildcards above it.
  expect(["x.a.b.example", "y.x.b.example"].map(actionOf)).toEqual(["allow", "nodata"]);
});

test("the first zone decides, whatever a later one has", () => {
  expect(judge(zones("*.example CNAME rpz-passthru.", "a.example CNAME ."), "a.example").action).toBe("allow");
  expect(judge(zones("a.example CNAME .", "a.example CNAME rpz-passthru."), "a.example").action).toBe("block");
});

test("within a zone the order is client-IP, QNAME, IP, NSDNAME, NSIP", () => {
  const lines = ["32.20.2.0.192.rpz-client-ip CNAME rpz-drop.", "a.example CNAME .", "32.1.2.0.192.rpz-ip CNAME *.", "ns.bad.rpz-nsdname A 192.0.2.7", "32.53.2.0.192.rpz-nsip CNAME rpz-tcp-only."];
  const facts = { ...answer("192.0.2.1"), nameServers: [{ names: ["ns.bad"], addresses: [Uint8Array.of(192, 0, 2, 53)] }] };
  const triggers = lines.map((_, index) => judge(zones(lines.slice(index).toReversed().join("\n")), "a.example", { answer: facts }).rule?.trigger);
  expect(triggers).toEqual(["client-ip", "qname", "ip", "nsdname", "nsip"]);
});

test("the longest prefix decides, then the smallest address", () => {
  const text = "8.0.0.0.10.rpz-ip CNAME .\n24.0.2.0.10.rpz-ip CNAME *.\n32.9.2.0.10.rpz-ip CNAME rpz-drop.\n32.8.2.0.10.rpz-ip CNAME rpz-passthru.";
  const actionOf = (...addresses: readonly string[]) => judge(zones(text), "a.example", { answer: answer(...addresses) }).rule?.name;
  expect(actionOf("10.9.9.9", "10.0.2.1")).toBe("10.0.2.0/24");
  expect(actionOf("10.0.2.9", "10.0.2.8")).toBe("10.0.2.8/32");
  expect(actionOf("11.0.0.1")).toBeUndefined();
});

test("the earlier name of a chain decides, whatever zone has it", () => {
  const facts = { names: [{ section: "cname", name: "one.example" }, { section: "cname", name: "two.example" }] as const, ...answer("192.0.2.1") };
  const verdict = judge(zones("two.example CNAME .\n32.1.2.0.192.rpz-ip CNAME .", "one.example CNAME *."), "a.example", { answer: facts });
  expect(verdict).toMatchObject({ answer: { kind: "nodata" }, rule: { record: { section: "cname", value: "one.example" } }, allowName: "one.example" });
  expect(judge(zones("32.1.2.0.192.rpz-ip CNAME .", "two.example CNAME *."), "a.example", { answer: facts }).answer?.kind).toBe("nodata");
  expect(judge(zones("32.1.2.0.192.rpz-ip CNAME .", "two.example CNAME *."), "a.example", { answer: facts, rules: () => ({ waitsForAnswer: true }) }).answer?.kind).toBe("nxdomain");
  expect(judge(zones("one.example CNAME rpz-passthru.\n32.1.2.0.192.rpz-ip CNAME ."), "a.example", { answer: facts }).action).toBe("allow");
});

test("servers of each name of a chain count at its place, and those of one that is allowed do not", () => {
  const servers = (name: string) => ({ names: [name], addresses: [] });
  const facts = { names: [{ section: "cname", name: "one.example" }] as const, ...answer("192.0.2.1"), nameServers: [servers("ns.first"), servers("ns.last")] };
  const ruleOf = (text: string, rules: Partial<DnsRules> = {}) => judge(zones(text), "a.example", { answer: facts, rules: () => rules }).rule?.name;
  expect(ruleOf("ns.last.rpz-nsdname CNAME .")).toBe("ns.last");
  expect(ruleOf("ns.first.rpz-nsdname CNAME .\none.example CNAME *.\nns.last.rpz-nsdname CNAME *.")).toBe("ns.first");
  expect(ruleOf("one.example CNAME *.\nns.last.rpz-nsdname CNAME .")).toBe("one.example");
  expect(ruleOf("ns.last.rpz-nsdname CNAME .\n32.1.2.0.192.rpz-ip CNAME *.")).toBe("192.0.2.1/32");
  const allowed = { allowances: [{ id: "1", name: "one.example", hasSubdomains: false, scope: { kind: "everyone" }, untilMs: null }] } as const;
  expect([ruleOf("ns.last.rpz-nsdname CNAME .", allowed), ruleOf("ns.first.rpz-nsdname CNAME .", allowed)]).toEqual([undefined, "ns.first"]);
});

test("zones that wait keep their order where an earlier one decides by the answer", () => {
  const lists = zones("32.1.2.0.192.rpz-ip CNAME *.", "a.example CNAME .");
  const kindOf = (waitsForAnswer: boolean, address: string) => {
    const verdict = judge(lists, "a.example", { rules: () => ({ waitsForAnswer }), answer: answer(address) });
    return [verdict.answer?.kind, verdict.matches.length];
  };
  expect(kindOf(false, "192.0.2.1")).toEqual(["nxdomain", 1]);
  expect(kindOf(true, "192.0.2.1")).toEqual(["nodata", 2]);
  expect(kindOf(true, "192.0.2.2")).toEqual(["nxdomain", 1]);
  expect(judge(lists, "a.example", { rules: () => ({ waitsForAnswer: true }) })).toMatchObject({ isFinal: false, action: "allow" });
});

test("filter lists block what a zone excepts, and a zone blocks what filter lists except", () => {
  expect(judge([{ format: "adblock", text: "||a.example^" }, { format: "rpz", text: "a.example CNAME rpz-passthru." }], "a.example").action).toBe("block");
  expect(judge([{ format: "adblock", text: "@@||a.example^" }, { format: "rpz", text: "a.example CNAME ." }], "a.example").action).toBe("block");
});
