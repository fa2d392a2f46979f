/**
 * Sends frames for `bench -- capture`, as a process of its own in the sender's namespace: `INTERFACE OCTETS COUNT PPS`, 0 for as fast as it
 * goes. Frames are UDP of 1024 flows, written once and sent again and again by sendmmsg past the queueing discipline.
 */
import { encodeEthernet, encodeIpv4, encodeUdp, ETHER_TYPE, IP_PROTOCOL } from "@lanthorn/packets";
import { LINUX, loadLibc } from "../../packages/packet-io/src/libc.ts";
import { bindToInterface, openPacketSocket } from "../../packages/packet-io/src/send/packet-socket.ts";

const FLOWS = 1024;
const BATCH = 256;
/** A `struct mmsghdr` and a `struct iovec` of 64-bit Linux. @see sendmmsg(2) */
const MESSAGE_OCTETS = 64;
const IOVEC_OCTETS = 16;

/** A frame of `octets` octets; flow and direction differ with `index`. */
function frameOf(index: number, octets: number): Uint8Array {
  const ends = { source: Uint8Array.of(10, 9, index >> 8, index & 0xff), destination: Uint8Array.of(10, 8, 0, index & 0x3f) };
  const payload = Uint8Array.from({ length: octets - 42 }, (_, at) => (at * 31 + index) & 0xff);
  const datagram = encodeUdp({ sourcePort: 20_000 + index, destinationPort: 40_000 + (index & 7), payload }, ends);
  return encodeEthernet({
    destination: Uint8Array.of(2, 0, 0, 0, 0, 2), source: Uint8Array.of(2, 0, 0, 0, 0, 1), etherType: ETHER_TYPE.ipv4,
    payload: encodeIpv4({ ...ends, protocol: IP_PROTOCOL.udp, payload: datagram }),
  });
}

function run(name: string, octets: number, count: number, pps: number): void {
  const libc = loadLibc();
  const socket = openPacketSocket(name, 0);
  libc.setsockopt(socket, LINUX.SOL_PACKET, LINUX.PACKET_QDISC_BYPASS, Uint8Array.of(1, 0, 0, 0), 4);
  bindToInterface(socket, name, 0);
  const slab = Buffer.allocUnsafeSlow(FLOWS * octets);
  const vectors = Buffer.allocUnsafeSlow(FLOWS * IOVEC_OCTETS).fill(0);
  const messages = Buffer.allocUnsafeSlow(FLOWS * MESSAGE_OCTETS).fill(0);
  const [slabAt, vectorsAt] = [libc.addressOf(slab), libc.addressOf(vectors)];
  for (let index = 0; index < FLOWS; index += 1) {
    slab.set(frameOf(index, octets), index * octets);
    vectors.writeBigUInt64LE(slabAt + BigInt(index * octets), index * IOVEC_OCTETS);
    vectors.writeBigUInt64LE(BigInt(octets), index * IOVEC_OCTETS + 8);
    messages.writeBigUInt64LE(vectorsAt + BigInt(index * IOVEC_OCTETS), index * MESSAGE_OCTETS + 16);
    messages.writeBigUInt64LE(1n, index * MESSAGE_OCTETS + 24);
  }
  const startedAt = performance.now();
  let sent = 0;
  while (sent < count) {
    const due = pps === 0 ? count : Math.min(count, Math.floor(((performance.now() - startedAt) / 1000) * pps));
    const at = sent % FLOWS;
    const most = Math.min(BATCH, FLOWS - at, due - sent);
    if (most <= 0) continue;
    const taken = libc.sendmmsg(socket, messages.subarray(at * MESSAGE_OCTETS), most, LINUX.MSG_DONTWAIT);
    if (taken > 0) sent += taken;
    else if (![LINUX.EAGAIN, LINUX.ENOBUFS, LINUX.EINTR].includes(libc.errno() as 11)) throw new Error(`sendmmsg: errno ${libc.errno()}`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  libc.close(socket);
  console.log(JSON.stringify({ sent, seconds }));
}

const [name = "", octets, count, pps] = process.argv.slice(2);
run(name, Number(octets), Number(count), Number(pps));
