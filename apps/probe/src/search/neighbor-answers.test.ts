import { formatMac } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { createLossProbes } from "../probing/loss-probes.ts";
import { createNeighborAnswers } from "./neighbor-answers.ts";
import { createNeighborPlaces } from "./neighbor-places.ts";
import { arpAnswer } from "./testing/arp-link.ts";

const FIRST = 0xc0_a8_00_00;
const OWN = FIRST + 1;
const macOf = (place: number) => [0x02, 0, 0, place >>> 16, (place >>> 8) & 255, place & 255];

function create(count = 65_536, expected: readonly number[] = []) {
  const found: string[] = [];
  const others: string[] = [];
  let answered = 0;
  const line = ({ ip, mac }: { readonly ip: number; readonly mac: Uint8Array }) => `${ip - FIRST} ${formatMac(mac)}`;
  const answers = createNeighborAnswers({
    places: createNeighborPlaces([{ first: FIRST, count, ownIp: OWN }]), expected: new Set(expected),
    lossProbes: createLossProbes({ patienceMs: 100, onOutcome() {} }), rate: { answered: () => void (answered += 1) },
    onFound: (host) => void found.push(line(host)), onOther: (host) => void others.push(line(host)),
  });
  // In the middle of a larger memory, as in the kernel's.
  const memory = new Uint8Array(600);
  const hear = (frame: Uint8Array) => {
    memory.fill(0xaa);
    memory.set(frame, 100);
    answers.take(memory, 100, frame.length);
  };
  const burst = (from: number, many: number) => {
    for (let place = from; place < from + many; place += 1) hear(arpAnswer(FIRST + place, macOf(place)));
  };
  return { answers, found, others, hear, burst, answered: () => answered };
}

test("numbers the addresses of several ranges", () => {
  const places = createNeighborPlaces([{ first: 100, count: 10, ownIp: 5 }, { first: 0xffff_fff0, count: 16, ownIp: 0xffff_fff1 }]);
  expect([places.total, [...places.own]]).toEqual([26, [0xffff_fff1]]);
  expect([99, 100, 109, 110, 0xffff_fff0, 0xffff_ffff].map((ip) => places.placeOf(ip))).toEqual([-1, 0, 9, -1, 10, 25]);
  expect([0, 9, 10, 25].map((place) => [places.ipAt(place), places.rangeAt(place)])).toEqual([[100, 0], [109, 0], [0xffff_fff0, 1], [0xffff_ffff, 1]]);
});

test("notes an answer and reports it later, once, with the MAC that it came by", async () => {
  const { answers, found, hear, answered } = create();
  hear(arpAnswer(FIRST + 7, macOf(7)));
  hear(arpAnswer(FIRST + 7, macOf(7)));
  hear(arpAnswer(OWN, macOf(1)));
  expect([found, answers.found, answered(), answers.hasAnswered(7), answers.hasAnswered(8)]).toEqual([[], 1, 2, true, false]);
  await answers.handOver(() => {});
  await answers.handOver(() => {});
  expect(found).toEqual(["7 02:00:00:00:00:07", "1 02:00:00:00:00:01"]);
});

test("takes no answer from outside, from a group address, or cut short, and nothing that is no ARP", () => {
  const { answers, hear } = create(256);
  hear(arpAnswer(FIRST + 256, macOf(2)));
  hear(arpAnswer(FIRST + 3, [0x03, 0, 0, 0, 0, 3]));
  hear(arpAnswer(FIRST + 4, macOf(4)).subarray(0, 41));
  const other = arpAnswer(FIRST + 5, macOf(5));
  other[13] = 0x00;
  hear(other);
  expect(answers.found).toBe(0);
});

test("passes on at once that another MAC answers for an address, and nothing else that comes again", () => {
  const { others, hear } = create();
  hear(arpAnswer(FIRST + 7, macOf(7)));
  hear(arpAnswer(FIRST + 7, macOf(8)));
  hear(arpAnswer(FIRST + 7, macOf(7)));
  expect(others).toEqual(["7 02:00:00:00:00:08"]);
});

test("counts who is still missing of those that were there lately", () => {
  const { answers, hear } = create(256, [FIRST + 3, FIRST + 9, FIRST + 999]);
  expect(answers.missing).toBe(2);
  for (let again = 0; again < 2; again += 1) hear(arpAnswer(FIRST + 9, macOf(9)));
  expect(answers.missing).toBe(1);
});

test("reports slow answers as they come, and those of a burst when it is over", () => {
  const { answers, found, burst } = create();
  answers.handOverWaiting(0, false);
  burst(10, 100);
  answers.handOverWaiting(100, false);
  expect(found).toHaveLength(0);
  answers.handOverWaiting(300, false);
  expect(found).toHaveLength(100);
  burst(1000, 2000);
  answers.handOverWaiting(600, false);
  expect(found).toHaveLength(100);
  answers.handOverWaiting(900, false);
  expect(found).toHaveLength(612);
});

test("keeps nobody waiting for more than some seconds, however fast the search sends", () => {
  const { answers, found, burst } = create();
  answers.handOverWaiting(0, true);
  burst(10, 5);
  for (let at = 250; at < 5000; at += 250) answers.handOverWaiting(at, true);
  expect(found).toHaveLength(0);
  answers.handOverWaiting(5000, true);
  expect(found).toHaveLength(5);
});

test("hands over a /16 a part at a time, and reads in between", async () => {
  const { answers, found, burst } = create();
  burst(0, 65_536);
  let between = 0;
  let most = 0;
  let before = 0;
  await answers.handOver(() => {
    between += 1;
    most = Math.max(most, found.length - before);
    before = found.length;
  });
  expect([found.length, between, most]).toEqual([65_536, 128, 512]);
});
