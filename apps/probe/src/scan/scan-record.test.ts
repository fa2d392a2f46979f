import { expect, test } from "vitest";
import { parseProbeEvent } from "@lanthorn/contract/uplink";
import { readAnswer, readSoftware } from "@lanthorn/fingerprints";
import type { PortFinding } from "../identify/finding.ts";
import { createScanRecord } from "./scan-record.ts";
import { createReportedSoftware } from "./software-reports.ts";

const COUNTS = { open: 1, closed: 1, filtered: 0, "open|filtered": 0 };

const MAC = "02:00:00:00:00:01";
const openssh = (version: string): PortFinding => {
  const claims = readAnswer("ssh", `OpenSSH_${version} Debian-2+deb12u3`);
  return { service: "ssh", version: `OpenSSH ${version}`, banner: "", claims, keys: [], software: readSoftware(claims) };
};

function open(reported = createReportedSoftware()) {
  return createScanRecord({ scan_id: "01939f6e-2a10-7c3e-8f00-000000000007" }, {
    clock: { now: () => 0 }, macAt: () => MAC, facts: { noteAt: () => undefined, noteRole: () => true }, reported,
    announce: () => undefined, onRouted: () => undefined, wantName: () => false, onFault: () => undefined,
  });
}

test("a host's counts are reported behind its open ports: the collector closes the ports that have not come by then", () => {
  const record = open();
  const ip = "192.0.2.1";
  record.report.host({ ip, mac: "", isRouted: false });
  record.report.port({ ip, protocol: "tcp", port: 22 }, null);
  record.report.counts(ip, { tcp: COUNTS, udp: COUNTS });
  const events = record.take();
  expect(events.map(({ type }) => type)).toEqual(["port_found", "scan_results"]);
  expect(events[1]?.data).toMatchObject({ hosts: [{ ip }, { ip, port_counts: { tcp: COUNTS } }] });
});

test("a port is reported with its software once that is known, and the host with its own, when that is news", () => {
  const reported = createReportedSoftware();
  const scan = (finding: PortFinding | null) => {
    const record = open(reported);
    record.report.port({ ip: "192.0.2.1", protocol: "tcp", port: 22 }, finding);
    const events = record.take();
    for (const event of events) expect(parseProbeEvent(event)).toEqual({ ok: true, event });
    return events;
  };
  expect(scan(null).map(({ data }) => "software" in data)).toEqual([false]);
  const [port, host, ...others] = scan(openssh("9.2p1"));
  expect(others).toEqual([]);
  expect(port?.data).toMatchObject({
    software: { vendor: "OpenBSD", product: "OpenSSH", version: "9.2p1", distribution: "Debian 12", package_version: "1:9.2p1-2+deb12u3" },
  });
  expect(host).toMatchObject({ type: "host_software", data: { ip: "192.0.2.1", mac: MAC, software: [{ source: "ssh:22", product: "Debian", version: "12" }] } });
  expect(scan(openssh("9.3p1")).map(({ type }) => type)).toEqual(["port_found"]);
  expect(scan({ service: "ssh", version: "", banner: "", software: null }).map(({ data }) => data)).toMatchObject([{ software: null }]);
});

test("much software of one host comes in events of the contract's size", () => {
  const record = open();
  for (let port = 1; port <= 40; port += 1) record.report.port({ ip: "192.0.2.1", protocol: "tcp", port }, openssh("9.2p1"));
  const sizes = record.take().flatMap((event) => (event.type === "host_software" ? [event.data.software.length] : []));
  expect(sizes).toEqual([16, 16, 8]);
});
