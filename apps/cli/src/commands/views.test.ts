import type { DeviceProfile, Scan, ScanHost } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { describeDevice } from "./devices-show.ts";
import { createScanView, describeProgress } from "./scan-view.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const AT = "2026-11-20T08:15:30.250Z";
const SHORT = "2026-11-20T08:15:30Z";
const scan: Scan = {
  id: ID, tenant_id: ID, site_id: ID, probe_id: ID, target: "10.0.0.0/24", profile: "quick", status: "running", progress: 0.5,
  requested_by: "admin", created_at: AT, started_at: AT, finished_at: null, hosts_total: 254, hosts_up: 2, ports_open: 2, error: null,
  remarks: [],
};
const port = { port: 22, protocol: "tcp", state: "open", service: "ssh", version: "OpenSSH 9.2", banner: "" } as const;
const host = (ip: string, seen_at: string, ports: ScanHost["ports"]): ScanHost =>
  ({ ip, mac: "", device_id: null, hostname: "", seen_at, port_counts: null, ports });

test("a scan under way is a bar, and a table of who answered, the latest first", () => {
  const hosts = [
    host("10.0.0.1", AT, [port, { ...port, port: 23, state: "closed" }]),
    host("10.0.0.2", "2026-11-20T08:15:31.000Z", [{ ...port, port: 53, protocol: "udp", service: "" }]),
  ];
  expect(describeProgress(scan, hosts).split("\n")).toEqual([
    `[${"#".repeat(15)}${".".repeat(15)}]  50 %  10.0.0.0/24  2 hosts, 2 open ports`,
    "IP        MAC  HOSTNAME  OPEN PORTS",
    "10.0.0.2  -    -         53/udp",
    "10.0.0.1  -    -         22 ssh",
  ]);
});

test("what answers for hosts that are not there is said under the bar, and of other ports how many there are", () => {
  const counts = {
    tcp: { open: 1, closed: 97, filtered: 2, "open|filtered": 0 }, udp: { open: 0, closed: 0, filtered: 0, "open|filtered": 20 },
  };
  const remarks = [{ code: "tarpit", message: "10.0.0.9 answers on every port", ip: "10.0.0.9", mac: "", addresses: 1 }] as const;
  const lines = describeProgress({ ...scan, remarks: [...remarks] }, [
    { ...host("10.0.0.1", AT, [port]), port_counts: counts },
  ]).split("\n");
  expect(lines.slice(1)).toEqual([
    "! 10.0.0.9 answers on every port",
    "IP        MAC  HOSTNAME  OPEN PORTS  OTHER PORTS",
    "10.0.0.1  -    -         22 ssh      97 closed, 2 filtered, 20 open|filtered",
  ]);
});

test("it is drawn over itself, never higher than the screen, and taken away at the end", () => {
  const written: string[] = [];
  const view = createScanView({ write: (text) => void written.push(text), rows: () => 3, columns: () => 80 });
  view.draw(scan, []);
  view.draw(scan, Array.from({ length: 9 }, (_, last) => host(`10.0.0.${last}`, AT, [])));
  view.clear();
  expect(written.map((text) => text.split("\n").length)).toEqual([2, 3, 1]);
  expect([written[0]?.startsWith("\r\u001B[J"), written[1]?.startsWith("\u001B[1A\r\u001B[J"), written[2]]).toEqual([
    true, true, "\u001B[2A\r\u001B[J",
  ]);
});

test("no line of it is longer than the screen is wide, which would go on below and not be drawn over", () => {
  const written: string[] = [];
  const view = createScanView({ write: (text) => void written.push(text), rows: () => 40, columns: () => 60 });
  const message = "10:65:30:77:00:20 answers for 14 addresses: a router with proxy ARP; addresses without a host are not reported as hosts";
  const remarks = [{ code: "proxy-arp", message, ip: "", mac: "", addresses: 14 }] as const;
  const ports = Array.from({ length: 12 }, (_, index) => ({ ...port, port: 5000 + index, service: "ms-wbt-server" }));
  view.draw({ ...scan, remarks: [...remarks] }, [host("10.0.0.1", AT, ports)]);
  const lines = (written[0] ?? "").replace("\r\u001B[J", "").split("\n");
  expect(lines.filter(({ length }) => length > 60)).toEqual([]);
  // Nothing of the text is lost.
  expect(lines.join(" ").replaceAll(/ +/g, " ")).toContain("5011 ms-wbt-server");
  expect(lines.join(" ")).toContain("addresses without a host are not reported as hosts");
});

test("a device is shown with what there is of it, and nothing that moves the cursor", () => {
  const claim = (value: string, source: string, confidence: number) => ({ value, source, confidence, seen_at: AT });
  const evidence = {
    os: [claim("Linux", "tcp:syn-ack", 0.6), claim("Debian", "ssh:22", 0.9)], device_type: [claim("computer", "oui", 0.5)],
    model: [claim("DS920+", "snmp-description:recog:161", 0.65)], ip: [claim("10.0.0.1", "arp", 0.9)],
  };
  const openssh = {
    vendor: "OpenBSD", product: "OpenSSH", version: "9.2p1", edition: "", distribution: "Debian 12", package_version: "1:9.2p1-2+deb12u3", cpe: "", confidence: 0.9,
  };
  const device: DeviceProfile = {
    id: ID, ip: "10.0.0.1", mac: "00:11:32:00:00:01", hostname: "nas\u001B[2J", vendor: "", os_guess: "Linux",
    device_type: "unknown", is_online: true,
    presence_state: "online", first_seen: AT, last_seen: AT, site_id: ID, open_ports: [22], tags: [], interfaces: [],
    ports: [{ ...port, last_scanned: AT, software: openssh }, { ...port, port: 2222, last_scanned: AT, software: null }], services: [],
    software: [{ ...openssh, vendor: "Debian", product: "Debian\u001B[2J", version: "12", package_version: "", sources: ["ssh:22", "http-server:80"], first_seen: AT, last_seen: AT }],
    cves: [], neighbors: [], history: [{ at: AT, field: "hostname", before: "", after: "nas", source: "mdns" }], evidence,
    locked_fields: [], merges: [],
    verdicts: {
      os: { value: "Debian", confidence: 0.93, sources: ["ssh:22"] },
      model: { value: "DS920+", confidence: 0.9, sources: ["ssdp:device", "snmp-description:recog:161"] },
    },
  };
  expect(describeDevice(device).split("\n")).toEqual([
    "state      online", "address    10.0.0.1", "MAC        00:11:32:00:00:01", "hostname   nas?[2J", "model      DS920+",
    "type       unknown", "system     Linux",
    `first seen ${SHORT}`, `last seen  ${SHORT}`, `id         ${ID}`, "",
    "what it is", "FIELD   VALUE    SURE  BECAUSE OF", "type    unknown  -     maker of its MAC: computer (50 %)",
    "model   DS920+   90 %  SNMP description, port 161, by Recog (65 %)",
    "                       UPnP device", "system  Debian   93 %  SSH greeting, port 22 (90 %)",
    "                       its TCP handshake: Linux (60 %)", "",
    "software", "SOFTWARE    VERSION  BUILD      BECAUSE OF", "Debian?[2J  12       Debian 12  SSH greeting, port 22, web server's name, port 80", "",
    "ports", "PORT      STATE  SERVICE  SOFTWARE  VERSION      BUILD",
    "22/tcp    open   ssh      OpenSSH   9.2p1        Debian 12 1:9.2p1-2+deb12u3", "2222/tcp  open   ssh      -         OpenSSH 9.2  -", "",
    "changes", "AT                    FIELD     FROM  TO   BY", `${SHORT}  hostname  -     nas  mdns`,
  ]);
});
