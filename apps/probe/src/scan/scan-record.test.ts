import { expect, test } from "vitest";
import { createScanRecord } from "./scan-record.ts";

const COUNTS = { open: 1, closed: 1, filtered: 0, "open|filtered": 0 };

test("a host's counts are reported behind its open ports: the collector closes the ports that have not come by then", () => {
  const record = createScanRecord({ scan_id: "01939f6e-2a10-7c3e-8f00-000000000007" }, {
    clock: { now: () => 0 }, macAt: () => "02:00:00:00:00:01", facts: { noteAt: () => undefined, noteRole: () => true },
    announce: () => undefined, onRouted: () => undefined, wantName: () => false, onFault: () => undefined,
  });
  const ip = "192.0.2.1";
  record.report.host({ ip, mac: "", isRouted: false });
  record.report.port({ ip, protocol: "tcp", port: 22 }, null);
  record.report.counts(ip, { tcp: COUNTS, udp: COUNTS });
  const events = record.take();
  expect(events.map(({ type }) => type)).toEqual(["port_found", "scan_results"]);
  expect(events[1]?.data).toMatchObject({ hosts: [{ ip }, { ip, port_counts: { tcp: COUNTS } }] });
});
