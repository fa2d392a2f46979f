import { PacketIoError } from "../errors.ts";
import { LINUX, loadLibc } from "../libc.ts";
import { attachFilter, NOTHING } from "../capture/packet-filter.ts";

/** Above what Linux gives to connections by itself, so that a scan hardly ever finds one taken. @see ip_local_port_range in ip(7) */
const FIRST_PORT = 61_000;
const PORTS = 4000;
const TRIES = 64;

/** A port of this host that the kernel is silent on. */
export interface QuietPort {
  readonly port: number;
  close(): void;
}

/**
 * Takes a port for frames of one's own. Without this the kernel answers what comes to it, by a RST or an ICMP message, and first asks for
 * the MAC of each who sent it. Here TCP listens and UDP is bound, on both IP versions, behind a filter that drops everything: the kernel
 * takes the port for used, answers nothing, and nobody can connect. Needs no rights.
 * @param random In [0, 1).
 * @throws PacketIoError `send-failed` when none is free, or `library-missing`.
 */
export function takeQuietPort(random: () => number): QuietPort {
  for (let tried = 0; tried < TRIES; tried += 1) {
    const port = FIRST_PORT + Math.floor(random() * PORTS);
    const sockets = silence(port);
    if (sockets) return { port, close: () => closeAll(sockets) };
  }
  throw new PacketIoError("send-failed", `no port from ${FIRST_PORT} to ${FIRST_PORT + PORTS - 1} is free to scan from`);
}

function silence(port: number): number[] | null {
  const sockets: number[] = [];
  for (const family of [LINUX.AF_INET, LINUX.AF_INET6]) {
    for (const type of [LINUX.SOCK_STREAM, LINUX.SOCK_DGRAM]) {
      const socket = loadLibc().socket(family, type | LINUX.SOCK_CLOEXEC, 0);
      // A machine without IPv6 needs no silence there.
      if (socket < 0) continue;
      sockets.push(socket);
      if (isSilenced(socket, { port, family, type })) continue;
      closeAll(sockets);
      return null;
    }
  }
  return sockets;
}

function isSilenced(
  socket: number,
  { port, family, type }: { readonly port: number; readonly family: number; readonly type: number },
): boolean {
  const libc = loadLibc();
  // A `struct sockaddr_in` or `sockaddr_in6`, of any address. @see ip(7), ipv6(7)
  const address = Buffer.alloc(family === LINUX.AF_INET ? 16 : 28);
  address.writeUInt16LE(family, 0);
  address.writeUInt16BE(port, 2);
  if (family === LINUX.AF_INET6) libc.setsockopt(socket, LINUX.IPPROTO_IPV6, LINUX.IPV6_V6ONLY, Uint8Array.of(1, 0, 0, 0), 4);
  // The filter first: no frame finds the socket without it.
  if (!attachFilter(socket, NOTHING) || libc.bind(socket, address, address.length) !== 0) return false;
  return type === LINUX.SOCK_DGRAM || libc.listen(socket, 1) === 0;
}

function closeAll(sockets: readonly number[]): void {
  for (const socket of sockets) loadLibc().close(socket);
}
