import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { ipv4Bytes, parseMac } from "@lanthorn/packets";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { createOwnHosts } from "./own-hosts.ts";

const FIRST = 0x0a_42_00_00;
const macOf = (number: number) => `02:00:00:00:${(number >> 8).toString(16).padStart(2, "0")}:${(number & 255).toString(16).padStart(2, "0")}`;
const addressOf = (number: number) => ipv4Bytes(FIRST + number).join(".");

function create() {
  const clock = createFakeClock();
  const events: ProbeEvent[] = [];
  const hosts = createOwnHosts({
    db: new Database(":memory:"), outbox: { append: (some) => void events.push(...some) }, clock, log: silentLog, maxHosts: 10_000,
    vendorOf: () => "",
  });
  const answer = (number: number, mac = macOf(number)) => hosts.noteAnswer({ ip: FIRST + number, mac: parseMac(mac) as Uint8Array });
  return { clock, events, hosts, answer, found: () => events.flatMap((event) => (event.type === "host_found" ? [event.data.mac] : [])) };
}

test("hosts that answer a search by the thousand enter in turns, whatever packets were counted for them", async () => {
  const { clock, hosts, answer } = create();
  for (let number = 0; number < 3000; number += 1) answer(number);
  expect(hosts.table.size).toBe(500);
  await clock.advance(1000);
  expect([hosts.table.size, hosts.macAt(addressOf(2999))]).toEqual([3000, macOf(2999)]);
});

test("a host that waits for its turn is reported before the next events are about it", () => {
  const { hosts, answer, found } = create();
  for (let number = 0; number < 2000; number += 1) answer(number);
  hosts.announce([addressOf(1999)]);
  expect([hosts.table.size, found()]).toEqual([2000, [macOf(1999)]]);
});

test("one that was known is seen again, and another machine at its address is a host of its own", async () => {
  const { clock, hosts, answer } = create();
  answer(7);
  await clock.advance(60_000);
  answer(7);
  answer(7, macOf(9));
  expect(hosts.table.size).toBe(2);
  expect([...hosts.table.all()].map(({ mac, lastSeenAt }) => [mac, clock.now() - lastSeenAt])).toEqual([[macOf(7), 0], [macOf(9), 0]]);
});
