import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import type { Finding } from "../../intrusions/finding.ts";
import { createFindingRate } from "./finding-rate.ts";
import { flowOf } from "./rule-engine.ts";

const FINDING: Finding = {
  engine: "lanthorn", times: 1, at: 0, rule: { gid: 1, id: 7, revision: 1, message: "", category: "", className: "", severity: "low", priority: 3, techniques: [] },
  source: { ip: "10.0.0.1", port: 1 }, destination: { ip: "10.0.0.2", port: 2 }, protocol: "tcp", application: "", direction: null, wouldBlock: false, target: null,
  matched: [], fields: {}, packet: null,
};
const of = (id: number, more: Partial<Finding> = {}): Finding => ({ ...FINDING, ...more, rule: { ...FINDING.rule, id } });

test("the first goes at once, more of them together at the end of the second", async () => {
  const clock = createFakeClock();
  const sent: [number, number][] = [];
  const rate = createFindingRate({ kindOf: flowOf, clock, send: ({ rule, times }) => sent.push([rule.id, times]) > 0 });
  for (let count = 0; count < 1000; count += 1) rate.add(of(1));
  rate.add(of(2));
  rate.add(of(1, { source: { ip: "10.0.0.9", port: 1 } }));
  expect(sent).toEqual([[1, 1], [2, 1], [1, 1]]);
  await clock.advance(1000);
  expect(sent.slice(3)).toEqual([[1, 999]]);
  rate.add(of(1));
  rate.close();
  expect([sent.slice(4), rate.lost]).toEqual([[[1, 1]], 0]);
});

test("what is too much for the daemon is counted", async () => {
  const clock = createFakeClock();
  let sent = 0;
  let reads = true;
  const rate = createFindingRate({
    kindOf: flowOf,
    clock, send() {
      if (reads) sent += 1;
      return reads;
    },
  });
  for (let id = 0; id < 10_000; id += 1) rate.add(of(id));
  expect([sent, rate.lost]).toEqual([50, 9950]);
  // Other flows of what goes on are counted with it.
  for (let port = 100; port < 200; port += 1) rate.add(of(3, { source: { ip: "10.0.0.1", port } }));
  expect([sent, rate.lost]).toEqual([50, 9950]);
  await clock.advance(1000);
  expect(sent).toBe(51);
  reads = false;
  rate.add(of(1, { times: 5 }));
  expect([sent, rate.lost]).toEqual([51, 9955]);
  rate.close();
});
