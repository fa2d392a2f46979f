import { silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createLink, type Link } from "../capture/link.ts";
import { encodeNameQuestions } from "../egress/name-questions.ts";
import { createEgressPolicy } from "../egress/policy.ts";
import { createDirectedProbes } from "./directed-probes.ts";
import { OWN_LINK } from "./testing/guard-scene.ts";

const policy = createEgressPolicy({
  sweep: { enabled: true, intervalSeconds: 300, packetsPerSecond: 200, networks: [] }, scanPacketsPerSecond: 200, excluded: [],
});
const MAC = Uint8Array.of(2, 0, 0, 0, 0, 9);

test("what is asked while earlier probes leave is sent too", async () => {
  const { probes, sent, open } = createGated();
  for (let last = 10; last < 13; last += 1) probes.ask(Uint8Array.of(192, 168, 1, last), MAC);
  expect(sent).toHaveLength(1);
  open();
  await expect.poll(() => sent.length).toBe(3);
});

test("a sender that takes nothing is not asked without end", async () => {
  let orders = 0;
  const probes = createProbes({
    send() {
      orders += 1;
      return Promise.resolve();
    },
  });
  probes.ask(Uint8Array.of(192, 168, 1, 10), MAC);
  await expect.poll(() => orders).toBe(1);
  await new Promise(setImmediate);
  probes.ask(Uint8Array.of(192, 168, 1, 11), MAC);
  await expect.poll(() => orders).toBeGreaterThanOrEqual(2);
  await new Promise(setImmediate);
  expect(orders).toBeLessThan(5);
});

test("an urgent question goes before a flood of others, which stay bounded", async () => {
  const { probes, sent, open } = createGated();
  const question = encodeNameQuestions(createLink(OWN_LINK) as Link, { id: 1, label: "bcdfghjklmnp" })[0] as Uint8Array;
  for (let host = 0; host < 1000; host += 1) probes.ask(Uint8Array.of(192, 168, 1, host & 127), MAC);
  expect(probes.send(question, true)).toBe(true);
  open();
  await expect.poll(() => sent.length).toBe(1 + 1 + 64);
  expect(sent.indexOf(question)).toBe(1);
});

function createProbes(sender: Parameters<typeof createDirectedProbes>[0]["sender"]) {
  return createDirectedProbes({ policy, link: () => OWN_LINK, isActive: () => true, log: silentLog, sender });
}

/** Probes whose sender takes a frame and then waits for `open`. */
function createGated() {
  const sent: Uint8Array[] = [];
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const probes = createProbes({
    async send(frames) {
      for (const frame of frames) {
        sent.push(frame);
        await gate;
      }
    },
  });
  return { probes, sent, open: () => open() };
}
