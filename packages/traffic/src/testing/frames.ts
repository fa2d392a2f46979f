/** Frames of a small network, for tests only. */
import {
  encodeEthernet, encodeIcmpv4, encodeIpv4, encodeIpv6, encodeTcp, encodeUdp, ETHER_TYPE, IP_PROTOCOL, parseIpv4, parseIpv6, parseMac, TCP_FLAG, type VlanTag,
} from "@lanthorn/packets";
import { type Analyzer, type AnalyzerOptions, createAnalyzer } from "../analyzer.ts";
import type { FlowRecord } from "../flows/flow-record.ts";

/** An instant to count from, in microseconds. */
export const START = 1_700_000_000_000_000;

/** Turns one into bytes. @throws Error for what is no address. */
export function ip(text: string): Uint8Array {
  const bytes = text.includes(":") ? parseIpv6(text) : parseIpv4(text);
  if (!bytes) throw new Error(`${text} is no address`);
  return bytes;
}

function mac(text: string): Uint8Array {
  const bytes = parseMac(text);
  if (!bytes) throw new Error(`${text} is no MAC address`);
  return bytes;
}

/** The client's and the server's. */
export const [CLIENT_MAC, SERVER_MAC] = ["02:00:00:00:00:0c", "02:00:00:00:00:05"];

interface Ends {
  readonly from: string;
  readonly to: string;
  readonly vlanIds?: readonly number[];
}

/** An IP packet in a frame; `192.0.2.1` and what ends in `:1` is the client. */
export function packetFrame({ from, to, vlanIds = [] }: Ends, protocol: number, payload: Uint8Array): Uint8Array {
  const isClient = from.endsWith(".1") || from.endsWith(":1");
  const vlanTags: VlanTag[] = vlanIds.map((vlanId) => ({ protocol: ETHER_TYPE.vlan, priority: 0, isDropEligible: false, vlanId }));
  const [source, destination] = [ip(from), ip(to)];
  const isIpv4 = source.length === 4;
  return encodeEthernet({
    source: mac(isClient ? CLIENT_MAC : SERVER_MAC), destination: mac(isClient ? SERVER_MAC : CLIENT_MAC), vlanTags,
    etherType: isIpv4 ? ETHER_TYPE.ipv4 : ETHER_TYPE.ipv6,
    payload: isIpv4 ? encodeIpv4({ protocol, source, destination, payload }) : encodeIpv6({ protocol, source, destination, payload }),
  });
}

/** A UDP datagram in a frame. */
export function udpFrame(ends: Ends, ports: readonly [number, number], payload: string | Uint8Array): Uint8Array {
  const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  return packetFrame(ends, IP_PROTOCOL.udp, encodeUdp({ sourcePort: ports[0], destinationPort: ports[1], payload: bytes }, { source: ip(ends.from), destination: ip(ends.to) }));
}

/** An ICMP echo in a frame. */
export function echoFrame(ends: Ends, isRequest: boolean, identifier: number): Uint8Array {
  return packetFrame(ends, IP_PROTOCOL.icmpv4, encodeIcmpv4({
    kind: isRequest ? "echo-request" : "echo-reply", identifier, sequenceNumber: 1, data: new Uint8Array(56),
  }));
}

const FLAGS: Readonly<Record<string, number>> = {
  S: TCP_FLAG.syn, A: TCP_FLAG.ack, F: TCP_FLAG.fin, R: TCP_FLAG.rst, P: TCP_FLAG.psh,
};

/** A TCP segment in a frame. `flags` are letters: `SA`, `PA`, `FA`. */
export function tcpFrame(
  ends: Ends, ports: readonly [number, number],
  segment: { readonly flags: string; readonly seq: number; readonly ack?: number; readonly data?: string; readonly window?: number },
): Uint8Array {
  const flags = segment.flags.split("").reduce((sum, letter) => sum | (FLAGS[letter] ?? 0), 0);
  return packetFrame(ends, IP_PROTOCOL.tcp, encodeTcp({
    sourcePort: ports[0], destinationPort: ports[1], sequenceNumber: segment.seq >>> 0, acknowledgmentNumber: (segment.ack ?? 0) >>> 0, flags,
    window: segment.window ?? 64_000, payload: new TextEncoder().encode(segment.data ?? ""),
  }, { source: ip(ends.from), destination: ip(ends.to) }));
}

type Options = Partial<AnalyzerOptions>;

/** An analyzer and the records it has written. */
export function openAnalyzer(options: Options = {}): { readonly analyzer: Analyzer; readonly records: FlowRecord[] } {
  const records: FlowRecord[] = [];
  return { records, analyzer: createAnalyzer({ random: () => 0.25, onMessage: null, onFlow: (record) => records.push(record), ...options }) };
}

/** The records of frames that come one millisecond after the other. */
export function recordsOf(frames: readonly Uint8Array[], options: Options = {}): readonly FlowRecord[] {
  const { analyzer, records } = openAnalyzer(options);
  for (const [index, frame] of frames.entries()) analyzer.frame(frame, frame.length, START + index * 1000);
  analyzer.flush();
  return records;
}
