import { ARP_OPERATION, type ArpPacket, formatMac, parseIp, parseMac } from "@lanthorn/packets";
import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { type AskingHost, checkMac } from "./mac-check.ts";

const ip = (text: string) => parseIp(text) ?? new Uint8Array();
const mac = (text: string) => parseMac(text) ?? new Uint8Array();
const OWN = { mac: mac("52:54:00:00:00:01"), ip: ip("192.0.2.5") };
const DECOY = { mac: mac("00:11:32:00:00:01"), ip: ip("192.0.2.50") };
const NEIGHBORS = [ip("192.0.2.1"), ip("192.0.2.7")];

const answerTo = (from: AskingHost, sender: Uint8Array): ArpPacket => ({
  hardwareType: 1, protocolType: 0x0800, operation: ARP_OPERATION.reply, senderHardwareAddress: mac("52:54:00:00:00:99"), senderProtocolAddress: sender,
  targetHardwareAddress: from.mac, targetProtocolAddress: from.ip ?? new Uint8Array(4),
});

async function check(answers: (from: AskingHost, target: Uint8Array, asked: number) => boolean, targets = NEIGHBORS) {
  const clock = createFakeClock();
  const asked: string[] = [];
  const waiting: ArpPacket[] = [];
  const one = checkMac({
    own: OWN, decoy: DECOY, targets, clock, ask(from, target) {
      asked.push(formatMac(from.mac));
      if (answers(from, target, asked.length)) waiting.push(answerTo(from, target));
    },
  });
  for (let second = 0; second < 4; second += 1) {
    for (const packet of waiting.splice(0)) one.onArp(packet);
    await clock.advance(1000);
  }
  return { isRefused: await one.result, asked: asked.length };
}

test("a MAC address is refused where neighbors answer the interface's own and never the decoy's", async () => {
  expect(await check(({ mac: from }) => from === OWN.mac)).toEqual({ isRefused: true, asked: 12 });
});

test("it gets through where one neighbor answers it once, and nobody is asked any more", async () => {
  expect(await check(({ mac: from }, target) => from === DECOY.mac && target === NEIGHBORS[1])).toEqual({ isRefused: false, asked: 4 });
  expect(await check(({ mac: from }, _, asked) => from === DECOY.mac && asked > 8)).toEqual({ isRefused: false, asked: 12 });
});

test("nothing is known where nobody answers anybody, is asked, or only others' words are heard", async () => {
  expect(await check(() => false)).toEqual({ isRefused: null, asked: 12 });
  expect(await check(() => true, [])).toEqual({ isRefused: null, asked: 0 });
  const clock = createFakeClock();
  const one = checkMac({ own: OWN, decoy: DECOY, targets: NEIGHBORS, clock, ask: () => undefined });
  one.onArp(answerTo(OWN, ip("192.0.2.200")));
  one.onArp({ ...answerTo(OWN, NEIGHBORS[0] ?? ip("")), operation: ARP_OPERATION.request });
  await clock.advance(4000);
  expect(await one.result).toBeNull();
});
