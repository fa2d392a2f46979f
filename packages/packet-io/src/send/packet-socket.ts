import { PacketIoError } from "../errors.ts";
import { LINUX, loadLibc } from "../libc.ts";
import { linkError, requireLinkUp } from "../interface/link-state.ts";

/** A `struct sockaddr_ll`. @see packet(7) */
const ADDRESS_OCTETS = 20;

/**
 * An AF_PACKET socket that is bound to nothing yet.
 * @param protocol 0 for one that receives nothing before it is bound.
 * @throws PacketIoError `interface-missing`, `interface-down`, `permission-denied` or `send-failed`.
 */
export function openPacketSocket(name: string, protocol: number): number {
  requireLinkUp(name);
  const libc = loadLibc();
  const socket = libc.socket(LINUX.AF_PACKET, LINUX.SOCK_RAW | LINUX.SOCK_CLOEXEC, protocol);
  if (socket >= 0) return socket;
  const errno = libc.errno();
  if (errno === LINUX.EPERM || errno === LINUX.EACCES) {
    const need = `raw frames on ${name} need the capability CAP_NET_RAW`;
    throw new PacketIoError("permission-denied", `${need}: run as root, or give the service AmbientCapabilities=CAP_NET_RAW`);
  }
  throw new PacketIoError("capture-lost", `cannot open a packet socket on ${name} (errno ${errno})`);
}

/**
 * Binds it to an interface, and closes it where that fails.
 * @param protocol An EtherType, or ETH_P_ALL; 0 to receive nothing.
 * @throws PacketIoError `interface-missing` or `capture-lost`.
 */
export function bindToInterface(socket: number, name: string, protocol: number): void {
  const libc = loadLibc();
  const address = Buffer.alloc(ADDRESS_OCTETS);
  address.writeUInt16LE(LINUX.AF_PACKET, 0);
  address.writeUInt16BE(protocol, 2);
  // Of the process's own namespace, whichever sysfs is mounted.
  address.writeInt32LE(libc.if_nametoindex(name), 4);
  if (libc.bind(socket, address, ADDRESS_OCTETS) === 0) return;
  const errno = libc.errno();
  libc.close(socket);
  if (errno === LINUX.ENODEV || errno === LINUX.ENXIO) throw linkError(name, "missing");
  throw new PacketIoError("capture-lost", `cannot bind a packet socket to ${name} (errno ${errno})`);
}
