import { parseIp } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { createLink, type Link } from "../capture/link.ts";
import { createExclusions } from "./exclusions.ts";
import { createFrameSender } from "./frame-sender.ts";
import { DISCOVERY_FRAMES } from "./frames.ts";
import { encodeAddressRequest } from "./request-frames.ts";

const link = createLink({ mac: "02:00:00:00:00:01", up: true, addresses: [{ ip: "192.168.1.2", prefixLength: 24 }] }) as Link;
const frames = Array.from({ length: 100 }, (_, last) => encodeAddressRequest(link, parseIp(`192.168.1.${last + 10}`) as Uint8Array, null) as Uint8Array);
const signal = new AbortController().signal;
const noExclusions = createExclusions([]);

test("questions are ordered a second's worth at a time, at the rate of the moment", async () => {
  const orders: { readonly rate: number; readonly frames: number }[] = [];
  let rate = 50;
  const sender = createFrameSender({
    sender: {
      async send(order, { framesPerSecond }) {
        orders.push({ rate: framesPerSecond, frames: [...order].length });
        rate = 20;
      },
    },
    allowed: DISCOVERY_FRAMES,
    exclusions: () => noExclusions,
    packetsPerSecond: () => rate,
    onSent: () => undefined,
  });
  expect(await sender.send(frames, signal)).toBe(100);
  expect(orders.slice(0, 3)).toEqual([
    { rate: 50, frames: 50 },
    { rate: 20, frames: 20 },
    { rate: 20, frames: 20 },
  ]);
});

test("a sender that takes nothing is not asked again, and nothing counts as sent", async () => {
  let orders = 0;
  const sender = createFrameSender({
    sender: {
      async send() {
        orders += 1;
      },
    },
    allowed: DISCOVERY_FRAMES,
    exclusions: () => noExclusions,
    packetsPerSecond: () => 50,
    onSent: () => undefined,
  });
  expect(await sender.send(frames, signal)).toBe(0);
  expect(orders).toBe(1);
});
