import { formatMac } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createCapturedClaims } from "./answer-claims.ts";
import { createNeighborSearch } from "./find-neighbors.ts";
import { arpAnswer, createArpLink } from "./testing/arp-link.ts";

const FIRST = 0x0a_00_00_00;
const OWN = FIRST + 1;
const macOf = (ip: number) => [0x02, 0x11, 0, 0, (ip >>> 8) & 255, ip & 255];

function search(link: ReturnType<typeof createArpLink>, count: number) {
  const found: string[] = [];
  const heard: string[] = [];
  const captured = createCapturedClaims();
  const isClaimed = () => captured.isClaimed(arpAnswer(FIRST + 2, macOf(FIRST + 2)), 42);
  const line = ({ ip, mac }: { readonly ip: number; readonly mac: Uint8Array }) => `${ip - FIRST} ${formatMac(mac)}`;
  const neighbors = createNeighborSearch({
    link, mac: Uint8Array.of(2, 0, 0, 0, 0, 1), ranges: [{ first: FIRST, count, ownIp: OWN }], framesPerSecond: 100_000, clock: systemClock,
    random: Math.random, signal: new AbortController().signal, expected: new Set(),
    onFound: (host) => void found.push(line(host)),
    claims: { claim: captured.claim, heard: (host) => void heard.push(line(host)) },
  });
  return { neighbors, found, heard, isClaimed };
}

test("finds all who answer, each once, asks hardly anybody twice who has answered, and never for its own address", async () => {
  const link = createArpLink((ip) => [arpAnswer(ip, macOf(ip))]);
  const { neighbors, found, heard } = search(link, 4096);
  await neighbors.find();
  expect([found.length, new Set(found).size, new Set(link.asked).size, link.asked.includes(OWN)]).toEqual([4095, 4095, 4095, false]);
  // A few are loss probes, before it shows that nearly all answer.
  expect(link.asked.length).toBeLessThan(4095 + 128);
  expect(heard.toSorted()).toEqual(found.toSorted());
});

test("does not ask again those whose answers are only late, as long as nobody else answers either", async () => {
  const isLive = (ip: number) => ip % 2 === 0;
  let sentAt = 0;
  let sent = 0;
  const link = createArpLink((ip) => (isLive(ip) ? [arpAnswer(ip, macOf(ip))] : []), {
    onSend(count) {
      if (count > sent) sentAt = systemClock.monotonic();
      sent = count;
    },
    // Whoever answers is busy until nothing has been sent for longer than hosts need.
    isHeld: () => sent > 1000 && systemClock.monotonic() - sentAt < 80,
  });
  const { neighbors, found } = search(link, 4096);
  await neighbors.find();
  const times = new Map<number, number>();
  for (const ip of link.asked) if (isLive(ip)) times.set(ip, (times.get(ip) ?? 0) + 1);
  const again = [...times.values()].filter((count) => count > 1).length;
  expect(found).toHaveLength(2048);
  // Loss probes and the last frames of each pass.
  expect(again).toBeLessThan(256);
});

test("has answers left out of the capture while it asks, and passes on a second machine that uses an address", async () => {
  let wasClaimed = false;
  const other = [0x02, 0x22, 0, 0, 0, 9];
  const link = createArpLink((ip) => {
    wasClaimed ||= isClaimed();
    return ip === FIRST + 9 ? [arpAnswer(ip, macOf(ip)), arpAnswer(ip, other), arpAnswer(ip, macOf(ip))] : [];
  });
  const { neighbors, found, heard, isClaimed } = search(link, 4096);
  await neighbors.find();
  expect([wasClaimed, isClaimed()]).toEqual([true, false]);
  expect(found).toEqual(["9 02:11:00:00:00:09"]);
  expect(new Set(heard)).toEqual(new Set(["9 02:11:00:00:00:09", "9 02:22:00:00:00:09"]));
});

test("of a small network leaves its answers to the capture", async () => {
  let wasClaimed = false;
  const link = createArpLink((ip) => {
    wasClaimed ||= isClaimed();
    return [arpAnswer(ip, macOf(ip))];
  });
  const { neighbors, found, heard, isClaimed } = search(link, 256);
  await neighbors.find();
  expect([wasClaimed, found.length, heard]).toEqual([false, 255, []]);
});

test("reports who has answered where sending fails, and claims nothing any more", async () => {
  const link = createArpLink((ip) => [arpAnswer(ip, macOf(ip))], {
    onSend(sent) {
      if (sent > 600) throw new Error("the interface went down");
    },
  });
  const { neighbors, found, isClaimed } = search(link, 4096);
  await expect(neighbors.find()).rejects.toThrow();
  expect([found.length > 200, found.length <= link.asked.length, isClaimed()]).toEqual([true, true, false]);
});
