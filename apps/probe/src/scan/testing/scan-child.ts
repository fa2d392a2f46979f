/**
 * Runs one scan on an interface of its own namespace, and prints what it found as JSON. For tests and benches only.
 * Arguments, as JSON: `{ interface, ranges: [[first, count, own]], ports, udpPorts, framesPerSecond, late }`, addresses as numbers.
 */
import { type AddressPrefix, formatMac, ipv4Bytes, parseIp, parsePrefix } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { readFileSync } from "node:fs";
import { createExclusions } from "../../egress/exclusions.ts";
import { hostAddress } from "../../probing/frames/packet.ts";
import { openScanLink } from "../../probing/scan-link.ts";
import { openScanRun } from "../run/scan-run.ts";

interface Request {
  readonly interface: string;
  readonly ranges: readonly (readonly [number, number, number])[];
  readonly ports: readonly number[];
  readonly udpPorts?: readonly number[];
  readonly framesPerSecond: number;
  readonly late: boolean;
  /** Asked all the same, as another machine on the link could ask for them. */
  readonly excluded?: readonly string[];
  /** A router's address and networks behind it, as texts with their number of addresses. */
  readonly routed?: { readonly gateway: string; readonly ranges: readonly (readonly [string, number])[] };
  /** A prefix of the own link, our own addresses and those that somebody was seen at. */
  readonly ipv6?: { readonly prefix: string; readonly sources: readonly string[]; readonly observed: readonly string[] };
}

const request = JSON.parse(process.argv[2] ?? "") as Request;
const mac = Uint8Array.from(
  readFileSync(`/sys/class/net/${request.interface}/address`, "latin1").trim().split(":"), (part) => Number.parseInt(part, 16),
);
const hosts: string[] = [];
const ports: string[] = [];
const phantoms: string[] = [];
const counts: Record<string, unknown> = {};
const bytes = (text: string) => parseIp(text) as Uint8Array;
const own = [...request.ranges.map(([, , ownIp]) => ipv4Bytes(ownIp)), ...(request.ipv6?.sources ?? []).map(bytes)];
const exclusions = createExclusions((request.excluded ?? []).map((prefix) => parsePrefix(prefix) as AddressPrefix));
const startedAt = performance.now();
const cpuBefore = process.cpuUsage();
const scan = openScanRun({
  mac,
  exclusions: () => exclusions,
  openLink: (book) => openScanLink({
    interface: request.interface, excluded: () => ({ holds: () => false, hasIpv6: false }), random: Math.random, ...(book ? { book } : {}),
  }),
  own, searchesRanges: request.routed === undefined, searchFramesPerSecond: request.framesPerSecond,
  neighbors6: request.ipv6 ? [{
    prefix: parsePrefix(request.ipv6.prefix) as AddressPrefix, sources: request.ipv6.sources.map(bytes),
    observed: request.ipv6.observed.map(bytes),
  }] : [],
  routed: (request.routed?.ranges ?? []).map(([first, count]) => ({
    first: bytes(first), count,
    findWay: async () => ({
      source: own.find(({ length }) => length === bytes(first).length) as Uint8Array,
      gateway: bytes(request.routed?.gateway ?? ""), gatewayMac: null,
    }),
  })),
  ranges: request.ranges.map(([first, count, ownIp]) => ({ first, count, ownIp })),
  tcpPorts: request.ports,
  udpPorts: request.udpPorts ?? [],
  framesPerSecond: request.framesPerSecond,
  expected: new Set(),
  clock: systemClock,
  random: Math.random,
  signal: new AbortController().signal,
  report: {
    host: (host) => void hosts.push(`${hostAddress(host)} ${formatMac(host.mac)}`),
    port: (host, protocol, port) => void ports.push(`${hostAddress(host)} ${protocol} ${port}`),
    counts(host, seen) {
      counts[hostAddress(host)] = seen;
    },
    proxy: ({ mac: proxy, addresses }) => void phantoms.push(`${formatMac(proxy)} ${addresses}`),
    firewall: (addresses) => void phantoms.push(`firewall ${addresses}`),
    phantom: (host, isTarpit) => void phantoms.push(`${hostAddress(host)}${isTarpit ? " tarpit" : ""}`),
  },
});
await scan.run([]);
const seconds = (performance.now() - startedAt) / 1000;
const { user, system } = process.cpuUsage(cpuBefore);
const rss = process.memoryUsage.rss();
const early = hosts.length;
if (request.late) await scan.runLate();
const report = { early, hosts, ports, counts, phantoms, seconds, cpu_seconds: (user + system) / 1e6, rss_mb: rss / 1e6, sent: scan.sent };
scan.close();
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
