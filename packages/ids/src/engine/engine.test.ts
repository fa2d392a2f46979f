import { createAnalyzer } from "@lanthorn/traffic";
import { expect, test } from "vitest";
import { parseRules } from "../rules/rule-set.ts";
import { conversation, type Packet } from "./testing/conversation.ts";
import { createIds } from "./ids.ts";
import { buildRuleBase } from "./rule-base/rule-base.ts";

/** @returns `sid>` for each alert to the server, `sid<` to the client, in their order. */
function alertsOf(rules: readonly string[], packets: readonly Packet[]): string {
  const text = rules.map((rule, at) => `alert tcp any any -> any any (${rule} sid:${at + 1};)`).join("\n");
  const steps = buildRuleBase(parseRules(new TextEncoder().encode(text)).rules, []);
  let step = steps.next();
  while (!step.done) step = steps.next();
  const alerts: string[] = [];
  const ids = createIds({ base: step.value, onAlert: ({ rule, direction }) => void alerts.push(`${rule.id}${direction === "to-server" ? ">" : "<"}`) });
  const analyzer = createAnalyzer({ random: () => 0.5, onFlow: () => {}, onMessage: null, watch: ids.watch });
  for (const { frame, at } of packets) analyzer.placedFrame(frame, 0, frame.length, frame.length, at);
  analyzer.flush();
  expect(ids.counters().heldBytes).toBe(0);
  return alerts.join(" ");
}

test("contents are looked for in streams, across segments, once a chunk", () => {
  const packets = conversation().open().say(0, "one e", "vil two evil").say(1, "evil").close().packets;
  expect(alertsOf(['content:"evil";', 'content:"one evil"; depth:8;', 'dsize:>10; content:"evil";', 'content:"none";', 'content:!"none";'], packets)).toBe("3> 1> 2> 5> 1< 5<");
});

test("a stream without its handshake is looked at packet by packet", () => {
  const packets = conversation().say(0, "one e", "vil").say(1, "evil").packets;
  expect(alertsOf(['content:"evil";', 'flow:established; content:"evil";'], packets)).toBe("1<");
});

test("bits that one rule sets are there for the next", () => {
  const packets = conversation().open().say(0, "login").say(1, "welcome").say(0, "attack").close().packets;
  expect(alertsOf(['content:"attack"; flowbits:isset,in;', 'content:"welcome"; flowbits:set,in; flowbits:noalert;', 'content:"attack"; flowbits:isset,other;'], packets)).toBe("1>");
});
