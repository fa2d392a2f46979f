/**
 * Runs one scan on an interface of its own namespace, and prints what it found as JSON. For tests and benches only.
 * Arguments, as JSON: `{ interface, ranges: [[first, count, own]], ports, udpPorts, framesPerSecond, late }`, addresses as numbers.
 */
import { formatIp, formatMac } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { readFileSync } from "node:fs";
import { ipv4Bytes } from "../../observe/address-prefix.ts";
import { openScanLink } from "../scan-link.ts";
import { openScanRun } from "../scan-run.ts";

interface Request {
  readonly interface: string;
  readonly ranges: readonly (readonly [number, number, number])[];
  readonly ports: readonly number[];
  readonly udpPorts?: readonly number[];
  readonly framesPerSecond: number;
  readonly late: boolean;
}

const request = JSON.parse(process.argv[2] ?? "") as Request;
const mac = Uint8Array.from(readFileSync(`/sys/class/net/${request.interface}/address`, "latin1").trim().split(":"), (part) => Number.parseInt(part, 16));
const hosts: string[] = [];
const ports: string[] = [];
const phantoms: string[] = [];
const name = (ip: number) => formatIp(ipv4Bytes(ip));
const startedAt = performance.now();
const cpuBefore = process.cpuUsage();
const scan = openScanRun({
  mac,
  openLink: () => openScanLink({ interface: request.interface, excluded: () => ({ holds: () => false, hasIpv6: false }), random: Math.random }),
  ranges: request.ranges.map(([first, count, ownIp]) => ({ first, count, ownIp })),
  tcpPorts: request.ports,
  udpPorts: request.udpPorts ?? [],
  framesPerSecond: request.framesPerSecond,
  expected: new Set(),
  clock: systemClock,
  random: Math.random,
  signal: new AbortController().signal,
  onHost: (host) => void hosts.push(`${name(host.ip)} ${formatMac(host.mac)}`),
  onPort: ({ ip }, protocol, port) => void ports.push(`${name(ip)} ${protocol} ${port}`),
  onProxy: (proxy, addresses) => void phantoms.push(`${formatMac(proxy)} ${addresses}`),
  onPhantom: ({ ip }) => void phantoms.push(name(ip)),
});
await scan.run();
const seconds = (performance.now() - startedAt) / 1000;
const { user, system } = process.cpuUsage(cpuBefore);
const rss = process.memoryUsage.rss();
const early = hosts.length;
if (request.late) await scan.runLate();
const report = { early, hosts, ports, phantoms, seconds, cpu_seconds: (user + system) / 1e6, rss_mb: rss / 1e6, sent: scan.sent };
scan.close();
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
