import { addressCookie } from "../probing/frames/host-signs.ts";
import { type HostTarget, type PacketSource, TCP_ACK, TCP_SYN } from "../probing/frames/packet.ts";
import { createEchoWriter, createTcpWriter, createTimestampWriter, createUdpWriter } from "../probing/frames/packet-writers.ts";
import { udpRequests } from "../probing/frames/udp-requests.ts";
import { bytesOf } from "../probing/routed-addresses.ts";
import type { ScanLink } from "../probing/scan-link.ts";

/** Writes a packet to a host at `at` in `bytes`. @returns The frame's length. */
export type WriteRoutedPoll = (bytes: Uint8Array, at: number, host: HostTarget) => number;

/** Services that answer a datagram: DNS, NTP, NetBIOS. */
const UDP_PORTS = [53, 123, 137] as const;

/**
 * The packets that hosts behind a router are asked by, in waves, from what is hardly ever dropped to what hardly anybody drops: echo, SYN to
 * 443 and ACK to 80, timestamp and SYN to 22 and 80, datagrams to DNS, NTP and NetBIOS and SYN to 445 and 3389.
 * @param deps.size Octets of the hosts' addresses: 4 or 16.
 */
export function createRoutedPolls({ link, source, size, random }: {
  readonly link: Pick<ScanLink, "key" | "port">;
  readonly source: PacketSource;
  readonly size: 4 | 16;
  readonly random: () => number;
}): readonly (readonly WriteRoutedPoll[])[] {
  const [echo, udp, tcp] = [createEchoWriter(source), createUdpWriter(source), createTcpWriter(source)];
  const timestamp = createTimestampWriter(source);
  const cookieOf = (host: HostTarget, port: number) =>
    addressCookie({ key: link.key, ownPort: link.port }, bytesOf(host), 0, size, port);
  const syn = (port: number): WriteRoutedPoll =>
    (bytes, at, host) => tcp(bytes, at, host, { port, flags: TCP_SYN, sequence: cookieOf(host, port), acknowledgment: 0 });
  const ack = (port: number): WriteRoutedPoll =>
    (bytes, at, host) => tcp(bytes, at, host, { port, flags: TCP_ACK, sequence: 0, acknowledgment: cookieOf(host, port) });
  const ping: WriteRoutedPoll = (bytes, at, host) => echo(bytes, at, host, cookieOf(host, 0) & 0xffff);
  const time: WriteRoutedPoll = (bytes, at, host) => timestamp(bytes, at, host, cookieOf(host, 0) & 0xffff);
  const datagrams = udpRequests(UDP_PORTS, source, random).map(({ port, payloads: [payload = new Uint8Array(1)] }): WriteRoutedPoll =>
    (bytes, at, host) => udp(bytes, at, host, { port, payload }));
  return [[ping], [syn(443), ack(80)], [...(size === 4 ? [time] : []), syn(22), syn(80)], [...datagrams, syn(445), syn(3389)]];
}
