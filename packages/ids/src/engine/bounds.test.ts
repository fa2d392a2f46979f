import * as fc from "fast-check";
import { expect, test } from "vitest";
import { conversation, synFrame } from "./testing/conversation.ts";
import { baseOf, runRules } from "./testing/run-rules.ts";
import { buildRuleBase } from "./rule-base/rule-base.ts";

const START = 1_700_000_000_000_000;

test("a hundred thousand half-open connections hold no bytes, and no more flows than the table has", () => {
  const { analyzer, ids } = runRules(['content:"evil";', "flow:established;"]);
  const frame = synFrame(0);
  for (let number = 0; number < 100_000; number += 1) {
    // Source address and port; the checksums are not looked at.
    frame[27] = number >>> 16;
    frame[28] = (number >>> 8) & 0xff;
    frame[29] = number & 0xff;
    analyzer.frame(frame, frame.length, START + number);
  }
  expect(ids.counters()).toMatchObject({ packets: 100_000, heldBytes: 0, alerts: 0, transactions: 0 });
  expect(analyzer.counters().flows.open).toBeLessThanOrEqual(32_768);
});

test("bits of hosts are bounded, whatever rules set and hosts come", () => {
  const names = Array.from({ length: 100 }, (_, at) => `flags:S; xbits:set,bit${at},track ip_src,expire 3600; noalert;`);
  const { analyzer, ids } = runRules(names, { hostEntries: 1000 });
  for (let number = 0; number < 200; number += 1) {
    const frame = synFrame(number);
    analyzer.frame(frame, frame.length, START + number);
  }
  expect(ids.counters()).toMatchObject({ hostBits: 1000, evicted: 19_000 });
});

test("segments with holes hold no more memory than the bound, over all connections", () => {
  const limits = { total: 64 * 1024, heldPerStream: 16 * 1024 };
  const { play, analyzer, ids } = runRules(['content:"evil";'], limits);
  for (let flow = 0; flow < 200; flow += 1) {
    const holes = conversation(9999, 2000 + flow).open();
    for (let at = 0; at < 20; at += 1) holes.place(0, 10 + at * 1000, "x".repeat(500));
    play(holes.packets);
    expect(ids.counters().heldBytes).toBeLessThanOrEqual(limits.total);
  }
  expect(ids.counters().evictions).toBeGreaterThan(0);
  analyzer.flush();
  expect(ids.counters().heldBytes).toBe(0);
});

test("segments of one byte cost no more looks than their bytes pay for", () => {
  const letters = conversation().open();
  for (let at = 0; at < 5000; at += 1) letters.say(at % 2 === 0 ? 0 : 1, "e");
  const { play, analyzer, ids } = runRules(['content:"eeee";'], {});
  play(letters.packets);
  analyzer.flush();
  // One look at each growth by half, and some at each second.
  expect(ids.counters().checks).toBeLessThan(200);
});

test("what a packet costs is bounded, and what is left out is counted", () => {
  const rules = Array.from({ length: 50 }, () => 'content:"a"; content:"a"; distance:0; content:"a"; distance:0; content:"a"; distance:0; content:"b"; distance:0;');
  const { play, analyzer, ids } = runRules(rules, { stepsPerPacket: 200_000, stepsPerRule: 50_000 });
  play(conversation().open().say(0, "a".repeat(1400), "a".repeat(1400)).close().packets);
  analyzer.flush();
  expect(ids.counters().gaveUp).toBeGreaterThan(0);
  expect(ids.counters().shed).toBeGreaterThan(0);
});

test("the same bytes give the same alerts however they are cut, doubled and disordered", () => {
  const text = "GET evil one two three four five six seven evil attack";
  const rules = ['content:"evil";', 'content:"evil"; content:"attack"; distance:0;', 'content:"one two"; offset:9; depth:7;', 'content:!"none";', 'pcre:"/se[vf]en evil/";', 'content:"none";'];
  const whole = runRules(rules);
  whole.play(conversation().open().place(0, 0, text).close().packets);
  whole.analyzer.flush();
  const wanted = [...new Set(whole.alerts)].toSorted();
  const pieces = fc.array(fc.tuple(fc.nat({ max: text.length - 1 }), fc.integer({ min: 1, max: 20 })), { maxLength: 12 });
  fc.assert(fc.property(pieces, fc.array(fc.nat({ max: text.length - 1 }), { maxLength: 6 }), (doubles, cuts) => {
    const talk = conversation().open();
    for (const [at, length] of doubles) talk.place(0, at, text.slice(at, at + length));
    const places = [0, ...cuts.toSorted((one, other) => one - other), text.length];
    const parts = places.slice(1).map((end, index) => [places[index] ?? 0, text.slice(places[index], end)] as const).filter(([, part]) => part !== "");
    for (const [at, part] of parts.toReversed()) talk.place(0, at, part);
    const run = runRules(rules);
    run.play(talk.close().packets);
    run.analyzer.flush();
    // Rules that ask for places see segments too.
    expect([...new Set(run.alerts)].filter((alert) => alert !== "3>").toSorted()).toEqual(wanted.filter((alert) => alert !== "3>"));
    expect(run.ids.counters().heldBytes).toBe(0);
  }), { numRuns: 60 });
});

test("rules are made ready in many small steps", () => {
  const rules = baseOf(Array.from({ length: 3000 }, (_, at) => `content:"pattern ${at} of many";`)).rules.map(({ rule }) => rule);
  const steps = buildRuleBase(rules, []);
  let count = 0;
  while (!steps.next().done) count += 1;
  expect(count).toBeGreaterThan(3000 / 250 * 6);
});
