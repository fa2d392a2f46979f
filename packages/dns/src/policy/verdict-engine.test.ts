import * as fc from "fast-check";
import { decodeDns, encodeDns } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { judge, NOON, policyFor, TABLET } from "../testing/policy-case.ts";
import { readAnswerFacts } from "./answer-facts.ts";
import type { DnsRules, Policy, PolicyAnswer } from "./policy.ts";

const ADS = [{ format: "adblock", text: "||ads.example^\n||tracker.example^", name: "Ads", category: "advertising" }] as const;
const CHAIN = { names: [{ section: "cname", name: "cdn.example" }, { section: "cname", name: "x.tracker.example" }] as const };

test("blocked names are answered as the policy says, for every type", () => {
  const answerOf = (answer: PolicyAnswer, type: number) => judge(ADS, "ads.example", { policy: { answer }, query: { type } }).answer;
  const addressOf = (answer: PolicyAnswer, type: number) => {
    const given = answerOf(answer, type);
    return given?.kind === "records" ? given.records.map(({ data }) => data) : given?.kind;
  };
  for (const kind of ["nxdomain", "nodata", "refused"] as const) for (const type of [1, 28, 65, 16]) expect(answerOf({ kind }, type)).toEqual({ kind });
  expect([1, 28, 65].map((type) => addressOf({ kind: "zero" }, type))).toEqual([[{ kind: "address", address: "0.0.0.0" }], [{ kind: "address", address: "::" }], "nodata"]);
  const sinkhole = { kind: "sinkhole", ipv4: "192.0.2.80", ipv6: null } as const;
  expect([1, 28].map((type) => addressOf(sinkhole, type))).toEqual([[{ kind: "address", address: "192.0.2.80" }], "nodata"]);
});

test("the extended error names the list, and says for whom it is blocked", () => {
  const errorOf = (policy: Partial<Policy>, category = "advertising") => judge([{ ...ADS[0], category }], "ads.example", { policy }).extendedError;
  expect(errorOf({})).toEqual({ code: 15, text: "Ads (advertising)" });
  expect(errorOf({ scope: { kind: "device", id: "tablet" } })?.code).toBe(17);
  expect(errorOf({ scope: { kind: "device", id: "tablet" } }, "legal")?.code).toBe(16);
});

test("the chain of an answer is judged, and the exception that would help is for the name that was blocked", () => {
  expect(judge(ADS, "shop.example", { answer: CHAIN })).toMatchObject({
    action: "block", rule: { name: "tracker.example", record: { section: "cname", value: "x.tracker.example" } }, allowName: "x.tracker.example", isFinal: true,
  });
  const allow = (name: string, hasSubdomains = false) => () => ({ allowances: [{ id: "1", name, hasSubdomains, scope: { kind: "everyone" }, untilMs: null }] as const });
  expect(judge(ADS, "shop.example", { answer: CHAIN, rules: allow("x.tracker.example") }).action).toBe("allow");
  expect(judge(ADS, "shop.example", { answer: CHAIN, rules: allow("Tracker.example", true) }).action).toBe("allow");
  expect(judge(ADS, "shop.example", { answer: CHAIN, rules: allow("tracker.example") }).action).toBe("block");
  expect(judge(ADS, "shop.example", { answer: CHAIN, rules: allow("shop.example") })).toMatchObject({ action: "allow", reason: "allowance" });
});

test("an exception for the question spares its chain", () => {
  expect(judge([...ADS, { format: "adblock", text: "@@||shop.example^" }], "shop.example", { answer: CHAIN })).toMatchObject({ action: "allow", reason: "exception" });
});

test("an exception ends at its time and holds for its clients alone", () => {
  const until = (untilMs: number, id = "tablet") => () => ({ allowances: [{ id: "1", name: "ads.example", hasSubdomains: false, scope: { kind: "device", id }, untilMs }] as const });
  expect(judge(ADS, "ads.example", { rules: until(NOON + 1) })).toMatchObject({ action: "allow", isFinal: true });
  expect(judge(ADS, "ads.example", { rules: until(NOON) }).action).toBe("block");
  expect(judge(ADS, "ads.example", { rules: until(NOON + 1, "phone") }).action).toBe("block");
});

test("a pause blocks nothing until it ends", () => {
  const pause = (untilMs: number): Partial<DnsRules> => ({ pauses: [{ scope: { kind: "site", id: "home" }, untilMs }] });
  expect(judge(ADS, "ads.example", { rules: () => pause(NOON + 1) }).reason).toBe("paused");
  expect(judge(ADS, "ads.example", { rules: () => pause(NOON) }).action).toBe("block");
});

test("the most specific policy counts alone, in the order device, group, VLAN, site, everyone", () => {
  const scopes = [{ kind: "device", id: "tablet" }, { kind: "group", id: "children" }, { kind: "vlan", siteId: "home", vlanId: 20 }, { kind: "site", id: "home" }, { kind: "everyone" }] as const;
  for (const [index, scope] of scopes.entries()) {
    const verdict = judge(ADS, "ads.example", { rules: (set) => ({ policies: scopes.slice(index).toReversed().map((one) => policyFor(set, { id: one.kind, scope: one, lists: one === scope ? [] : policyFor(set).lists })) }) });
    expect(verdict).toMatchObject({ policyId: scope.kind, action: "allow" });
  }
  const others = [{ kind: "device", id: "phone" }, { kind: "vlan", siteId: "office", vlanId: 20 }] as const;
  expect(judge(ADS, "ads.example", { rules: (set) => ({ policies: others.map((scope) => policyFor(set, { scope })) }) }).reason).toBe("no-policy");
});

test("what is only observed changes nothing and is said, in the question and in the answer", () => {
  const observe = { policy: { mode: "observe" } } as const;
  expect(judge(ADS, "ads.example", observe)).toMatchObject({ action: "allow", isFinal: false, answer: null, observed: { name: "ads.example" }, matches: [{ isObserved: true }] });
  expect(judge(ADS, "shop.example", { ...observe, answer: CHAIN })).toMatchObject({ action: "allow", observed: { name: "tracker.example" } });
  const zones = [{ format: "rpz", text: "a.example CNAME ." }, { format: "rpz", text: "a.example CNAME *." }] as const;
  const first = { lists: [{ listId: "list-0", mode: "observe", schedule: null }, { listId: "list-1", mode: "enforce", schedule: null }] } as const;
  expect(judge(zones, "a.example", { policy: first })).toMatchObject({ answer: { kind: "nodata" }, observed: { listId: "list-0" } });
});

test("a list with a schedule counts in its spans, by the site's own time", () => {
  const actionAt = (iso: string, timeZone: string, span: { days: number[]; fromMinute: number; toMinute: number }) => judge(ADS, "ads.example", {
    policy: { lists: [{ listId: "list-0", mode: "enforce", schedule: { spans: [span] } }] }, query: { atMs: Date.parse(iso) }, rules: () => ({ timeZones: { home: timeZone } }),
  });
  // `rules` replaces nothing of the policy: the time zone alone.
  const school = { days: [1, 2, 3, 4, 5], fromMinute: 8 * 60, toMinute: 13 * 60 };
  const at = (iso: string, zone = "Europe/Berlin") => actionAt(iso, zone, school).action;
  expect(["2024-03-04T07:00:00Z", "2024-03-04T06:59:59Z", "2024-03-04T11:59:59Z", "2024-03-04T12:00:00Z", "2024-03-03T09:00:00Z"].map((iso) => at(iso))).toEqual(["block", "allow", "block", "allow", "allow"]);
  // Summer time began on 31 March.
  expect(["2024-04-01T06:00:00Z", "2024-04-01T05:59:59Z"].map((iso) => at(iso))).toEqual(["block", "allow"]);
  expect(at("2024-03-04T07:00:00Z", "Nowhere/Else")).toBe("allow");
  const night = { days: [5], fromMinute: 21 * 60, toMinute: 6 * 60 };
  const nightAt = (iso: string) => actionAt(iso, "UTC", night).action;
  expect(["2024-03-08T21:00:00Z", "2024-03-09T05:59:00Z", "2024-03-09T06:00:00Z", "2024-03-08T05:00:00Z"].map(nightAt)).toEqual(["block", "block", "allow", "allow"]);
});

test("Private Relay and the browser's own resolver are denied by policy alone", () => {
  const verdictOf = (name: string, policy: Partial<Policy>) => judge(ADS, name, { policy });
  for (const name of ["mask.icloud.com", "MASK-H2.icloud.com"]) {
    expect(verdictOf(name, { privateRelay: "block" })).toMatchObject({ action: "block", reason: "private-relay", answer: { kind: "nxdomain" }, extendedError: { code: 15 } });
    expect(verdictOf(name, { browserDns: "block" }).action).toBe("allow");
  }
  expect(verdictOf("use-application-dns.net", { browserDns: "block" })).toMatchObject({ reason: "browser-dns", answer: { kind: "nxdomain" } });
});

test("hints and targets of service records are judged as addresses and names are", () => {
  const service = (target: readonly number[], ...parameters: readonly number[]) => ({ kind: "bytes", bytes: Uint8Array.of(0, 1, ...target, ...parameters) }) as const;
  const message = encodeDns({
    isResponse: true, answers: [
      { name: "a.example", type: 5, class: 1, ttlSeconds: 1, data: { kind: "name", name: "b.example" } },
      { name: "b.example", type: 65, class: 1, ttlSeconds: 1, data: service([3, 97, 100, 115, 7, 101, 120, 97, 109, 112, 108, 101, 0], 0, 4, 0, 4, 192, 0, 2, 66) },
      { name: "b.example", type: 65, class: 1, ttlSeconds: 1, data: service([0], 0, 6, 0, 16, ...Array.from({ length: 16 }, () => 1)) },
    ],
  });
  const decoded = decodeDns(message);
  const facts = readAnswerFacts(decoded.ok ? decoded.value : { answers: [] });
  expect(facts.names).toEqual([{ section: "cname", name: "b.example" }, { section: "svcb", name: "ads.example" }]);
  expect(facts.addresses.map((address) => [...address])).toEqual([[192, 0, 2, 66], Array.from({ length: 16 }, () => 1)]);
  expect(judge(ADS, "a.example", { answer: facts, query: { type: 65 } }).rule?.record).toEqual({ section: "svcb", value: "ads.example" });
  expect(judge([{ format: "rpz", text: "32.66.2.0.192.rpz-ip CNAME ." }], "a.example", { answer: facts }).rule?.record).toEqual({ section: "address", value: "192.0.2.66" });
});

test("the reasoning comes step by step", () => {
  const { steps } = judge([...ADS, { format: "rpz", text: "x.tracker.example CNAME rpz-passthru." }], "shop.example", { answer: CHAIN });
  expect(steps.map(({ step }) => step)).toEqual(["policy", "filter-lists", "response-zone", "result", "filter-lists", "filter-lists", "result"]);
  expect(steps[5]).toMatchObject({ record: { value: "x.tracker.example" } });
});

test("no name, type or answer makes it throw", () => {
  const name = fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.constantFrom("ads.example", "a.tracker.example", "\\", "a\\999.b", "."));
  fc.assert(fc.property(name, fc.nat(65_535), fc.array(name, { maxLength: 5 }), fc.array(fc.uint8Array({ minLength: 4, maxLength: 4 }), { maxLength: 5 }), (asked, type, names, addresses) => {
    const answer = { names: names.map((one) => ({ section: "cname" as const, name: one })), addresses };
    return typeof judge([...ADS, { format: "rpz", text: "8.0.0.0.10.rpz-ip CNAME ." }], asked, { query: { type, client: TABLET }, answer }).action === "string";
  }), { numRuns: 200 });
});
