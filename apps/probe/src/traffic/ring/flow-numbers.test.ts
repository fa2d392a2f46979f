import { createFrameCursor, encodeFrameBlock, type FrameBlock } from "@lanthorn/packet-io";
import { encodeEthernet, encodeIpv4, encodeUdp, ETHER_TYPE, IP_PROTOCOL } from "@lanthorn/packets";
import { createFakeClock } from "@lanthorn/runtime";
import { array, assert, constantFrom, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import { NO_BEHAVIOUR } from "../anomalies/behaviour.ts";
import { createContents } from "../capture-files/file-contents.ts";
import { EPOCH_SECONDS, udpFrame } from "../capture-files/testing/frames.ts";
import { createFlowSinks } from "../process/flow-sinks.ts";
import { createFlowNumbers } from "./flow-numbers.ts";

/** Few ends, so that conversations come again; with a tag, inside of another packet, or cut, so that the flow table is not all that there is to know. */
const frames = array(record({
  from: integer({ min: 1, max: 3 }), to: integer({ min: 1, max: 3 }), port: integer({ min: 1000, max: 1002 }), shape: constantFrom("plain", "plain", "plain", "tag", "tunnel", "cut"),
}), { minLength: 1, maxLength: 60 });

function encode({ from, to, port, shape }: { readonly from: number; readonly to: number; readonly port: number; readonly shape: string }) {
  const plain = udpFrame({ source: `10.0.0.${from}`, destination: `10.0.1.${to}`, sourcePort: port, destinationPort: 2000 });
  const frame = { seconds: EPOCH_SECONDS, nanoseconds: 0 };
  if (shape === "cut") return { ...frame, bytes: plain.subarray(0, 40), wireLength: plain.length };
  if (shape === "plain") return { ...frame, bytes: plain };
  const macs = { destination: Uint8Array.of(2, 0, 0, 0, 0, 2), source: Uint8Array.of(2, 0, 0, 0, 0, 1), etherType: ETHER_TYPE.ipv4 };
  if (shape === "tag") return { ...frame, bytes: encodeEthernet({ ...macs, vlanTags: [{ protocol: 0x8100, priority: 0, isDropEligible: false, vlanId: from }], payload: plain.subarray(14) }) };
  const ends = { source: Uint8Array.of(10, 0, 2, from), destination: Uint8Array.of(10, 0, 2, 9) };
  const vxlan = Buffer.concat([Uint8Array.of(8, 0, 0, 0, 0, 0, to, 0), plain]);
  const outer = encodeUdp({ sourcePort: port, destinationPort: 4789, payload: vxlan }, ends);
  return { ...frame, bytes: encodeEthernet({ ...macs, payload: encodeIpv4({ protocol: IP_PROTOCOL.udp, ...ends, payload: outer }) }) };
}

test("a file has the same conversations where the flow table's numbers are used, whichever frames of them come first", () => {
  assert(property(array(frames, { minLength: 1, maxLength: 6 }), (blocks) => {
    const numbers = createFlowNumbers();
    const { sinks: [flows] } = createFlowSinks({
      numbers, behaviour: NO_BEHAVIOUR, onMessage: () => undefined, random: Math.random, clock: createFakeClock(EPOCH_SECONDS * 1000), watch: { watch: () => null, count: () => undefined },
    });
    // Each second block begins another file.
    let [known, looked] = [createContents({ isSummed: false }), createContents({ isSummed: false })];
    for (const [index, some] of blocks.entries()) {
      if (index % 2 === 0) [known, looked] = [createContents({ isSummed: false }), createContents({ isSummed: false })];
      const block = encodeFrameBlock(some.map(encode));
      flows.onBlock(block, 0);
      eachOf(block, (frame, at) => known.add(frame, at, numbers.of(block)?.[at]));
      eachOf(block, (frame, at) => looked.add(frame, at));
      expect(conversations(known)).toEqual(conversations(looked));
    }
  }));
});

test("numbers are of one block, and of as many frames as it has", () => {
  const numbers = createFlowNumbers();
  const [one, other] = [encodeFrameBlock([]), { ...encodeFrameBlock([]), frames: 5000 }];
  expect(numbers.of(one)).toBeNull();
  numbers.begin(one)[0] = 7;
  expect([numbers.of(one)?.[0], numbers.of(other)]).toEqual([7, null]);
  const many = numbers.begin(other);
  expect([many.length >= 5000, many[0], numbers.of(one)]).toEqual([true, 0, null]);
});

function eachOf(block: FrameBlock, visit: (frame: ReturnType<typeof createFrameCursor>, index: number) => void): void {
  const cursor = createFrameCursor(block);
  for (let index = 0; cursor.next(); index += 1) visit(cursor, index);
}

function conversations({ flows }: ReturnType<typeof createContents>): readonly string[] {
  const texts: string[] = [];
  flows.forEach((key) => texts.push(key.join(" ")));
  return texts.toSorted();
}
