import { expect, test } from "vitest";
import type { ReportedHit } from "../link/messages.ts";
import { createLadder, type Step } from "./ladder.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
const step = (rung: Step["rung"], more: Partial<Step> = {}): Step => ({
  decoy: "files2", service: "telnet", source: "192.0.2.66", sourcePort: 40_000, destination: "192.0.2.9", destinationPort: 23, rung, username: "", detail: "", isTest: false, isProven: true, ...more,
});

/** A ladder whose daemon takes all that it is sent, at the time of `flush`. */
function createWatched() {
  const ladder = createLadder();
  const sent: ReportedHit[] = [];
  return {
    ladder, sent, climb: (ms: number, ...steps: readonly Step[]) => {
      for (const one of steps) ladder.climb(one, START + ms, ms);
    },
    flush(ms: number) {
      const before = sent.length;
      const numbers: number[] = [];
      ladder.flush(ms, (number, hit) => numbers.push(number) > 0 && sent.push(hit) > 0);
      for (const number of numbers) ladder.taken(number, ms);
      return sent.slice(before);
    },
  };
}

test("a thousand guesses are one incident: the first touch, each rise, and a summary after ten minutes", () => {
  const { climb, flush } = createWatched();
  climb(0, step("touch"));
  expect(flush(250)).toMatchObject([{ report: "first", stage: "touch", severity: "low", connections: 1, techniques: ["T1046"] }]);
  climb(300, step("banner"), step("credential", { username: "root" }));
  const [rise] = flush(500);
  expect(rise).toMatchObject({ report: "rise", stage: "credential", severity: "high", username: "root", techniques: ["T1046", "T1110.001"] });
  for (let left = 999; left > 0; left -= 1) climb(1000, step("touch"), step("credential", { username: `user${left}` }));
  expect(flush(9 * MINUTE)).toEqual([]);
  const [summary] = flush(11 * MINUTE);
  expect(summary).toMatchObject({ report: "summary", connections: 1000, credentials: 1000, incident_id: rise?.incident_id, since: START, last_at: START + 1000 });
  expect(summary?.usernames.length).toBe(16);
  expect(flush(30 * MINUTE)).toEqual([]);
});

test("each rung has its severity, bait the highest; what is below changes neither stage nor words", () => {
  const { climb, flush } = createWatched();
  climb(0, step("touch"), step("command", { service: "redis", detail: "KEYS *" }), step("credential", { username: "a" }));
  expect(flush(1)).toMatchObject([{ stage: "command", severity: "high", service: "redis", detail: "KEYS *", services: ["telnet", "redis"] }]);
  climb(2, step("file", { detail: "PUT /x" }));
  expect(flush(3)).toMatchObject([{ stage: "file", report: "rise" }]);
  climb(4, step("bait_credential", { username: "backup" }));
  expect(flush(5)).toMatchObject([{ stage: "bait_credential", severity: "critical", username: "backup" }]);
  // What is done with bait is below it, and reported once.
  climb(6, step("banner", { service: "ssh" }), step("command", { service: "ssh", detail: "id" }));
  expect(flush(7)).toMatchObject([{ stage: "bait_credential", report: "rise", techniques: expect.arrayContaining(["T1059.004"]) as string[] }]);
  climb(8, step("command", { service: "ssh", detail: "ls" }));
  expect(flush(9)).toEqual([]);
});

test("each source and each decoy is one of its own; who was silent for an hour begins anew", () => {
  const { ladder, climb, flush } = createWatched();
  climb(0, step("touch"), step("touch", { decoy: "camera" }), step("touch", { source: "192.0.2.67" }));
  const first = flush(1);
  expect(new Set(first.map(({ incident_id: id }) => id)).size).toBe(3);
  expect(flush(59 * MINUTE)).toEqual([]);
  expect(ladder.size).toBe(3);
  flush(61 * MINUTE);
  expect(ladder.size).toBe(0);
  climb(62 * MINUTE, step("touch"));
  expect(flush(62 * MINUTE)).toMatchObject([{ report: "first" }]);
});

test("what the daemon did not take is sent again: after half a minute, or at once when it was away", () => {
  const ladder = createLadder();
  const sent: number[] = [];
  const send = (number: number) => sent.push(number) > 0;
  ladder.climb(step("touch"), START, 0);
  ladder.flush(0, () => false);
  ladder.flush(1, send);
  ladder.flush(29_000, send);
  expect(sent.length).toBe(1);
  ladder.flush(32_000, send);
  expect(sent.length).toBe(2);
  ladder.lost();
  ladder.flush(32_001, send);
  expect(sent.length).toBe(3);
  ladder.taken(3, 32_002);
  ladder.flush(90_000, send);
  expect(sent.length).toBe(3);
});

test("a flood of sources costs no more memory; first hits that nobody has taken yet are never thrown away", () => {
  const { ladder, climb, flush } = createWatched();
  for (let number = 0; number < 4096; number += 1) climb(number, step("touch", { source: `10.0.${number >> 8}.${number & 255}` }));
  climb(4096, step("touch", { source: "10.9.9.9" }));
  expect([ladder.size, ladder.leftOut]).toEqual([4096, 1]);
  while (flush(5000).length > 0);
  climb(6000, step("touch", { source: "10.9.9.9" }));
  expect(flush(6001)).toMatchObject([{ source_ip: "10.9.9.9", report: "first" }]);
  expect(ladder.size).toBe(4096);
});

test("who forges addresses takes no room from those who opened a connection, and does not delay them", () => {
  const { ladder, climb, flush } = createWatched();
  for (let number = 0; number < 3000; number += 1) climb(number, step("touch", { service: "snmp", source: `10.1.${number >> 8}.${number & 255}`, isProven: false }));
  expect([ladder.size, ladder.leftOut]).toEqual([1024, 1976]);
  climb(4000, step("touch", { source: "10.9.9.9" }));
  expect(flush(4001)[0]).toMatchObject({ source_ip: "10.9.9.9", report: "first" });
  climb(4002, step("banner", { source: "10.1.0.1" }));
  expect(flush(4003)[0]).toMatchObject({ source_ip: "10.1.0.1", stage: "banner" });
});

test("of those whom the daemon has, who was silent the longest is forgotten, and first those whose addresses may be forged", () => {
  const { ladder, climb, flush } = createWatched();
  for (let number = 0; number < 4095; number += 1) climb(number, step("touch", { source: `10.0.${number >> 8}.${number & 255}` }));
  climb(4096, step("touch", { source: "10.8.8.8", isProven: false }));
  while (flush(5000).length > 0);
  climb(6000, step("touch", { source: "10.0.0.0" }), step("touch", { source: "10.9.9.1" }), step("touch", { source: "10.9.9.2" }));
  while (flush(6001).length > 0);
  const isKnown = (source: string) => {
    const before = ladder.size;
    climb(7000, step("banner", { source }));
    return ladder.size === before && flush(7001).some(({ source_ip: ip, report }) => ip === source && report === "rise");
  };
  expect(["10.0.0.0", "10.0.0.2", "10.9.9.1", "10.9.9.2"].map(isKnown)).toEqual([true, true, true, true]);
  expect(["10.8.8.8", "10.0.0.1"].map(isKnown)).toEqual([false, false]);
});

test("whose evidence there was no room for is not forgotten before that was reported", () => {
  const { ladder, climb, flush } = createWatched();
  climb(0, step("touch", { source: "10.9.9.9" }), step("touch", { source: "10.9.9.8" }));
  expect(flush(250)).toHaveLength(2);
  ladder.leaveOut(step("touch", { source: "10.9.9.9" }), 3);
  for (let number = 0; number < 4095; number += 1) climb(1000, step("touch", { source: `10.0.${number >> 8}.${number & 255}` }));
  while (flush(2000).length > 0);
  expect([ladder.size, ladder.leftOut]).toEqual([4096, 0]);
  expect(flush(11 * MINUTE)).toMatchObject([{ report: "summary", source_ip: "10.9.9.9", left_out: 3 }]);
});

test("a flood of forged addresses costs no look at all that is there", () => {
  const { ladder, climb } = createWatched();
  for (let number = 0; number < 3000; number += 1) climb(number, step("touch", { source: `10.0.${number >> 8}.${number & 255}` }));
  const before = process.cpuUsage();
  for (let number = 0; number < 200_000; number += 1) climb(4000, step("touch", { source: `10.1.${number}`, isProven: false }));
  const { user, system } = process.cpuUsage(before);
  expect([ladder.size, ladder.leftOut, user + system < 1_000_000]).toEqual([4024, 198_976, true]);
});

test("who reads a document after a file was sent is reported for it, once", () => {
  const { climb, flush } = createWatched();
  climb(0, step("bait_credential"), step("file"));
  expect(flush(250)).toMatchObject([{ stage: "bait_credential", techniques: ["T1078", "T1570"] }]);
  climb(500, step("file", { techniques: ["T1039"] }), step("file", { techniques: ["T1039"] }));
  expect(flush(750)).toMatchObject([{ report: "rise", techniques: ["T1078", "T1570", "T1039"] }]);
  climb(800, step("file", { techniques: ["T1039"] }));
  expect(flush(1000)).toEqual([]);
});

test("who answers for names that no host has is one incident of its own, whatever decoys asked and however often", () => {
  const { climb, flush } = createWatched();
  const answer = (decoy: string, service: string) => step("name_poisoning", { decoy, service, isProven: false, detail: `gave itself by ${service}` });
  climb(0, step("touch"), answer("files2", "llmnr"));
  expect(flush(250)).toMatchObject([{ stage: "touch" }, { stage: "name_poisoning", severity: "high", report: "first", connections: 1, techniques: ["T1557.001"] }]);
  climb(1000, answer("files2", "nbns"), answer("db1", "mdns"), answer("db1", "llmnr"));
  expect(flush(2000)).toEqual([]);
  expect(flush(11 * MINUTE)).toMatchObject([{ stage: "name_poisoning", report: "summary", connections: 4, decoy: "files2", services: ["llmnr", "nbns", "mdns"] }]);
});
