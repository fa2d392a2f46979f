import type { ScanHost } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { compareScans } from "./compare.ts";

const host = (ip: string, ports: readonly number[], mac = ""): ScanHost => ({
  ip, mac, device_id: null, hostname: "", seen_at: "2026-11-27T10:00:00.000Z", port_counts: null,
  ports: ports.map((port) => ({ port, protocol: "tcp", state: "open", service: "", version: "", banner: "" })),
});

test("what is new, gone or changed comes before what is as it was", () => {
  const before = [host("10.0.0.1", [22]), host("10.0.0.2", [22, 23]), host("10.0.0.3", [])];
  const rows = compareScans([host("10.0.0.1", [22]), host("10.0.0.2", [22, 443]), host("10.0.0.4", [80])], before);
  expect(rows.map(({ host: { ip }, change, opened, closed }) => [ip, change, [...opened], closed.map(({ port }) => port)])).toEqual([
    ["10.0.0.4", "new", [], []], ["10.0.0.3", "gone", [], []], ["10.0.0.2", "changed", ["443/tcp"], [23]], ["10.0.0.1", "same", [], []],
  ]);
});

test("a host that has another address is the same by its MAC address; without a scan before nothing is compared", () => {
  const mac = "02:00:5e:00:00:01";
  expect(compareScans([host("10.0.0.9", [], mac)], [host("10.0.0.8", [], mac)]).map(({ change }) => change)).toEqual(["changed"]);
  expect(compareScans([host("10.0.0.9", [22])], null).map(({ change }) => change)).toEqual(["none"]);
});

test("a device with several addresses is each of them", () => {
  const mac = "02:00:5e:00:00:01";
  const rows = compareScans([host("10.0.0.8", [], mac), host("10.0.0.9", [], mac), host("10.0.0.10", [], mac)], [host("10.0.0.9", [], mac), host("10.0.0.8", [22], mac)]);
  expect(rows.map(({ key, change }) => [key, change])).toEqual([[`${mac} 10.0.0.10`, "new"], [`${mac} 10.0.0.8`, "changed"], [`${mac} 10.0.0.9`, "same"]]);
});
