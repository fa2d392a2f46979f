import { ipv4Number } from "../observe/address-prefix.ts";
import { type HashKey, halfSipHash } from "./half-siphash.ts";

/** What came back of a TCP question, in nmap's words. */
export type TcpState = "open" | "closed" | "filtered";

const IPV4 = 0x0800;
const TCP = 6;
const ICMP = 1;
const SYN_ACK = 0x12;
const RST = 0x04;
const UNREACHABLE = 3;
/** Net, host, protocol, port, and the three that say "prohibited". @see RFC 1812 section 5.2.7.1 */
const FILTERED_CODES: ReadonlySet<number> = new Set([0, 1, 2, 3, 9, 10, 13]);

/** The sequence number of the SYN to a port of a host: only who saw it, or holds the key, can answer it. */
export function synCookie(key: HashKey, ip: number, port: number, ownPort: number): number {
  return halfSipHash(key, [ip, (port << 16) | ownPort]);
}

/**
 * Reads an answer to a SYN of ours. What does not prove by its cookie that it answers one is nothing.
 * @param bytes Holds a frame from `offset` on; not kept.
 * @param take Told host, port, state and, for an open port, the sequence number to reset it by.
 */
export function readTcpAnswer(
  { bytes, offset, length }: { readonly bytes: Uint8Array; readonly offset: number; readonly length: number },
  { key, port: ownPort }: { readonly key: HashKey; readonly port: number },
  take: (ip: number, port: number, state: TcpState) => void,
): void {
  if (length < 54 || word(bytes, offset + 12) !== IPV4) return;
  const header = offset + 14;
  const headerLength = ((bytes[header] as number) & 15) * 4;
  const at = header + headerLength;
  if (bytes[header + 9] === TCP && at + 20 <= offset + length) {
    const ip = ipv4Number(bytes, header + 12);
    const port = word(bytes, at);
    const acknowledged = (ipv4Number(bytes, at + 8) - 1) >>> 0;
    if (word(bytes, at + 2) !== ownPort || acknowledged !== synCookie(key, ip, port, ownPort)) return;
    const flags = bytes[at + 13] as number;
    if ((flags & SYN_ACK) === SYN_ACK) take(ip, port, "open");
    else if ((flags & RST) !== 0) take(ip, port, "closed");
    return;
  }
  // An ICMP error holds our header and the first eight octets behind it: ports and sequence number. @see RFC 792
  if (bytes[header + 9] !== ICMP || bytes[at] !== UNREACHABLE || !FILTERED_CODES.has(bytes[at + 1] as number)) return;
  const inner = at + 8;
  const innerAt = inner + ((bytes[inner] as number) & 15) * 4;
  if (innerAt + 8 > offset + length || bytes[inner + 9] !== TCP || word(bytes, innerAt) !== ownPort) return;
  const ip = ipv4Number(bytes, inner + 16);
  const port = word(bytes, innerAt + 2);
  if (ipv4Number(bytes, innerAt + 4) === synCookie(key, ip, port, ownPort)) take(ip, port, "filtered");
}

function word(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}
