import { expect, test } from "vitest";
import { createExemptions } from "./exemptions.ts";

const at = (time: string) => new Date(`2026-01-01T${time}:00`);

test("declared scanners are exempt from their addresses, at their ports, in their hours, and counted; so is this machine", () => {
  const exemptions = createExemptions([
    { name: "scanner", addresses: ["192.0.2.0/28", "2001:db8::/64"], ports: [], hours: "22:00-04:30" }, { name: "monitoring", addresses: ["192.0.2.77"], ports: [80, 443] },
  ], () => ["192.0.2.1"]);
  const taken = (source: string, port: number, time = "23:00") => exemptions.take(source, port, at(time));
  expect([taken("192.0.2.5", 22), taken("192.0.2.5", 22, "04:29"), taken("2001:db8::9", 22, "22:00")]).toEqual([true, true, true]);
  expect([taken("192.0.2.5", 22, "04:30"), taken("192.0.2.5", 22, "12:00"), taken("192.0.2.16", 22), taken("2001:db8:1::9", 22)]).toEqual([false, false, false, false]);
  expect([taken("192.0.2.77", 80), taken("192.0.2.77", 22)]).toEqual([true, false]);
  expect(taken("192.0.2.1", 22, "12:00")).toBe(true);
  expect(exemptions.counts()).toEqual([{ name: "this machine", connections: 1 }, { name: "scanner", connections: 3 }, { name: "monitoring", connections: 1 }]);
});

test("those of the site are added to those of the file, end at their time, and are replaced as a whole", () => {
  const exemptions = createExemptions([{ name: "file", addresses: ["192.0.2.5"], ports: [] }], () => []);
  exemptions.takeSite([{ name: "site", addresses: ["192.0.2.6", "2001:db8::/64"], ports: [80], until: new Date("2026-01-01T12:00:00").toISOString() }]);
  const taken = (source: string, port: number, time = "11:59") => exemptions.take(source, port, at(time));
  expect([taken("192.0.2.5", 22), taken("192.0.2.6", 80), taken("192.0.2.6", 22), taken("2001:db8::1", 80, "12:00")]).toEqual([true, true, false, false]);
  expect(exemptions.counts()).toEqual([{ name: "this machine", connections: 0 }, { name: "file", connections: 1 }, { name: "site", connections: 1 }]);
  exemptions.takeSite([]);
  expect([taken("192.0.2.6", 80), taken("192.0.2.5", 80), exemptions.counts().length]).toEqual([false, true, 2]);
});

test("of a scan of many ports the source is looked up once", () => {
  let looks = 0;
  const exemptions = createExemptions([{ name: "scanner", addresses: ["192.0.2.5"], ports: [80] }, { name: "of all ports", addresses: ["192.0.2.6"], ports: [] }], () => {
    looks += 1;
    return ["192.0.2.1"];
  });
  const ports = Array.from({ length: 32 }, (_, index) => index + 70);
  expect(["192.0.2.5", "192.0.2.6", "192.0.2.1", "192.0.2.7"].map((source) => exemptions.takeScan(source, ports, at("12:00")).length)).toEqual([31, 0, 0, 32]);
  expect([looks, exemptions.counts().map(({ connections }) => connections)]).toEqual([4, [1, 1, 1]]);
});
