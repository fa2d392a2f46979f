import { formatIp, ipv4Bytes } from "@lanthorn/packets";

/** What a scan asks, and whom. */

/** Where a host is reached: its address, and the MAC that frames for it go to (a router's where it is not on the link). */
export interface HostTarget {
  /** Its IPv4 address; for IPv6 the number that the scan's address book has for it, 2^32 or more. */
  readonly ip: number;
  /** Sixteen bytes, where it is asked by IPv6. */
  readonly address6?: Uint8Array;
  /** Six bytes. */
  readonly mac: Uint8Array;
}

/** The host's address as text. */
export function hostAddress({ ip, address6 }: Pick<HostTarget, "ip" | "address6">): string {
  return formatIp(address6 ?? ipv4Bytes(ip));
}

/** Who asks, by IPv6 where it has an address of that. */
export interface PacketSource {
  /** Six bytes. */
  readonly mac: Uint8Array;
  readonly ip: number;
  readonly address6?: Uint8Array;
  readonly port: number;
}

/** Writes one question to a host, and says how long the frame is. */
export type Writer<Q> = (bytes: Uint8Array, at: number, target: HostTarget, question: Q) => number;

/** Bit of `TcpSegment.flags`. @see RFC 9293 section 3.1 */
export const TCP_SYN = 0x02;
/** Bit of `TcpSegment.flags`. @see RFC 9293 section 3.1 */
export const TCP_RST = 0x04;
/** Bit of `TcpSegment.flags`. @see RFC 9293 section 3.1 */
export const TCP_ACK = 0x10;
/** A common size, so that the SYN looks like anybody's. */
export const WINDOW = 64_240;
/** Maximum segment size, 1460. @see RFC 9293 section 3.2 */
export const MSS_OPTION = [2, 4, 0x05, 0xb4] as const;
/** Of IPv4 packets and, as the hop limit, of IPv6 ones: what Linux sends. */
export const TIME_TO_LIVE = 64;

/** A question over TCP. `port` is the host's; our own port is of the `PacketSource`. */
export interface TcpSegment {
  readonly port: number;
  readonly flags: number;
  readonly sequence: number;
  readonly acknowledgment: number;
}

/** A question over UDP. `port` is the host's; `payload` is copied into the frame. */
export interface UdpDatagram {
  readonly port: number;
  readonly payload: Uint8Array;
}

/** Some firewalls drop an echo request without data. */
export const ECHO_DATA = Uint8Array.from({ length: 32 }, (_, index) => 0x61 + (index % 23));
