import { processorMs } from "@lanthorn/runtime";
import { afterEach, expect, test } from "vitest";
import { arpFrame, createFakeLan, type FakeLan, OWN_MAC, SETTINGS } from "./testing/fake-lan.ts";

let lan: FakeLan | undefined;

afterEach(async () => {
  await lan?.close();
  lan = undefined;
});

const macOf = (number: number) => `00:11:44:${[16, 8, 0].map((bits) => ((number >>> bits) & 255).toString(16).padStart(2, "0")).join(":")}`;
const ipOf = (number: number) => `10.66.${number >> 8}.${number & 255}`;

test("sixty thousand hosts are found by one sweep of a /16, in bounded memory, and each frame after costs microseconds", async () => {
  lan = createFakeLan({
    addresses: ["10.66.0.1/16"],
    settings: { ...SETTINGS, sweep: { ...SETTINGS.sweep, packetsPerSecond: 10_000, intervalSeconds: 86_400 } },
  });
  const hosts = 60_000;
  const replies = Array.from({ length: hosts }, (_, number) =>
    arpFrame({ op: "reply", from: macOf(number + 2), spa: ipOf(number + 2), tpa: "10.66.0.1", to: OWN_MAC }),
  );
  const { sent } = lan;
  let answered = 0;
  const before = process.memoryUsage();
  lan.start();
  // Answers what was asked, a tenth of a second at a time: a table of sixty thousand fake hosts would cost more than what is tested.
  for (let step = 0; step < 90; step += 1) {
    await lan.clock.advance(100);
    const batch: Uint8Array[] = [];
    for (; answered < sent.length; answered += 1) {
      const target = (sent[answered] as { readonly bytes: Uint8Array }).bytes;
      const number = ((target[40] as number) << 8) | (target[41] as number);
      const reply = target[12] === 8 ? replies[number - 2] : undefined;
      if (reply) batch.push(reply);
    }
    lan.deliver(...batch);
  }
  await lan.clock.advance(10_000);
  expect(lan.discovery.counts()).toEqual({ online: hosts, known: hosts });
  sent.length = 0;
  const { deliver } = lan;
  const deliveringMs = processorMs(() => {
    for (let at = 0; at < replies.length; at += 500) deliver(...replies.slice(at, at + 500));
  });
  const microsecondsPerFrame = (deliveringMs * 1000) / hosts;
  const tickStartedAt = performance.now();
  await lan.clock.advance(10_000);
  const tickMs = (performance.now() - tickStartedAt) / 20;
  const after = process.memoryUsage();
  const bytesPerHost = (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / hosts;
  console.log(
    `${hosts} hosts: ${microsecondsPerFrame.toFixed(2)} µs a frame, ${tickMs.toFixed(1)} ms a tick, ${Math.round(bytesPerHost)} bytes each`,
  );
  // Some 3 µs where the machine has nothing else to do.
  expect(microsecondsPerFrame).toBeLessThan(100);
  expect(bytesPerHost).toBeLessThan(4000);
  expect(lan.eventsOf("host_found")).toHaveLength(hosts);
});
