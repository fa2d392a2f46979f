import { randomBytes } from "node:crypto";
import { PcapSummary } from "@lanthorn/contract/uplink";
import { expect, test } from "vitest";
import { seededMutations, seededRandom } from "../../../../../../packages/packets/src/testing/hostile.ts";
import { createFlowKeyReader } from "./flow-keys.ts";
import type { FrameView } from "@lanthorn/packet-io";
import { createSummaryMaker } from "./summary.ts";
import { EPOCH_SECONDS, udpFrame, viewOf } from "../testing/frames.ts";

function summaryOf(frames: Iterable<FrameView>) {
  const keys = createFlowKeyReader();
  const maker = createSummaryMaker();
  for (const frame of frames) maker.add(frame, keys.key, keys.read(frame));
  return maker;
}

test("both directions are one flow, which begins with who spoke first; ends and protocols are counted", () => {
  const question = udpFrame({ source: "10.0.0.9", destination: "10.0.0.1", sourcePort: 40_000, destinationPort: 53, payload: new Uint8Array(30) });
  const answer = udpFrame({ source: "10.0.0.1", destination: "10.0.0.9", sourcePort: 53, destinationPort: 40_000, payload: new Uint8Array(100) });
  const other = udpFrame({ source: "10.0.0.9", destination: "10.0.0.3", sourcePort: 7000, destinationPort: 7001, payload: new Uint8Array(30) });
  const summary = summaryOf([viewOf(question, 0), viewOf(answer, 10), viewOf(question, 20), viewOf(other, 250)]).read();
  expect(PcapSummary.parse(summary)).toEqual(summary);
  expect(summary).toEqual({
    protocols: [{ name: "dns", packets: 3, bytes: 286 }, { name: "udp", packets: 1, bytes: 72 }],
    talkers: [{ address: "10.0.0.9", packets: 4, bytes: 358 }, { address: "10.0.0.1", packets: 3, bytes: 286 }, { address: "10.0.0.3", packets: 1, bytes: 72 }],
    flows: [
      { protocol: "udp", source: "10.0.0.9", source_port: 40_000, destination: "10.0.0.1", destination_port: 53, packets: 3, bytes: 286 },
      { protocol: "udp", source: "10.0.0.9", source_port: 7000, destination: "10.0.0.3", destination_port: 7001, packets: 1, bytes: 72 },
    ],
    flows_total: 2, timeline: { from: "2023-11-14T22:13:20.000Z", step_ms: 100, packets: [3, 0, 1] },
  });
});

test("the line of time has at most 60 steps, however long it lasts and whatever the clock does", () => {
  const frame = udpFrame({});
  const { timeline } = summaryOf(Array.from({ length: 86_400 }, (_, second) => viewOf(frame, second * 1000))).read();
  expect(timeline.packets.length).toBeLessThanOrEqual(60);
  expect(timeline.packets.reduce((sum, count) => sum + count, 0)).toBe(86_400);
  expect(timeline.packets.length * timeline.step_ms).toBeGreaterThanOrEqual(86_399_000);
  const jumping = summaryOf([viewOf(frame), viewOf(frame, 0, { seconds: 0 }), viewOf(frame, 0, { seconds: 0xffff_ffff }), viewOf(frame, 5)]).read();
  expect(PcapSummary.parse(jumping).timeline.packets.reduce((sum, count) => sum + count, 0)).toBe(4);
});

test("a flood of forged senders keeps the large conversations, and the memory that it has", () => {
  const random = seededRandom(9);
  const address = () => `${1 + random(223)}.${random(256)}.${random(256)}.${random(256)}`;
  const large = udpFrame({ source: "10.0.0.9", destination: "10.0.0.1", payload: new Uint8Array(1200) });
  function* frames() {
    const template = viewOf(udpFrame({}));
    for (let n = 0; n < 200_000; n += 1) {
      template.bytes.writeUInt32BE(random(0x7fff_ffff), 3 + 26);
      template.bytes.writeUInt32BE(random(0x7fff_ffff), 3 + 30);
      yield n % 50 === 0 ? viewOf(large, n) : { ...template, seconds: EPOCH_SECONDS + n };
    }
    yield viewOf(udpFrame({ source: address(), destination: address() }));
  }
  const maker = summaryOf(frames());
  const summary = PcapSummary.parse(maker.read());
  expect(summary.flows[0]).toMatchObject({ source: "10.0.0.9", packets: 4000 });
  expect(summary.talkers.slice(0, 2).map(({ address: text }) => text).toSorted()).toEqual(["10.0.0.1", "10.0.0.9"]);
  expect(summary.flows_total).toBeGreaterThan(100_000);
  let kept = 0;
  maker.flows.forEach(() => (kept += 1));
  expect(kept).toBeLessThanOrEqual(2048);
  expect(summary.protocols.reduce((sum, { packets }) => sum + packets, 0)).toBe(200_001);
});

test("whatever a frame holds, there is a summary, and plain frames are read as decoded ones are", () => {
  const frames = [...seededMutations(Uint8Array.from(udpFrame({ payload: randomBytes(40) })), 20_000, 5)];
  const summary = summaryOf(frames.map((frame, n) => viewOf(frame, n))).read();
  expect(PcapSummary.parse(summary)).toEqual(summary);
  expect(summary.protocols.reduce((sum, { packets }) => sum + packets, 0)).toBeLessThanOrEqual(20_000);
  expect(summaryOf([viewOf(new Uint8Array(0)), viewOf(new Uint8Array(13))]).read()).toMatchObject({ protocols: [{ name: "unreadable", packets: 2 }], talkers: [], flows: [] });
});
