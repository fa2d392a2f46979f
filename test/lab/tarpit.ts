import { openCapture, openInjector, readInterface } from "@lanthorn/packet-io";
import {
  decodeEthernet, decodeIpv4, decodeTcp, encodeEthernet, encodeIpv4, encodeTcp, equalBytes, ETHER_TYPE, IP_PROTOCOL, parseIpv4, TCP_FLAG,
} from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";

/**
 * A tarpit: takes every TCP connection, lets nobody send it anything (its window is nothing) and never closes. For a host whose kernel does
 * not see TCP. Run as: tarpit.ts INTERFACE ADDRESS
 */
const [interfaceName = "", address = ""] = process.argv.slice(2);
const own = parseIpv4(address);
if (own === null) throw new Error("run as: tarpit.ts INTERFACE ADDRESS");
const { mac } = await readInterface(interfaceName);
const injector = openInjector({ interface: interfaceName, clock: systemClock });

/** @returns What is answered to a frame with a segment for us: a SYN-ACK, or an ACK that repeats that there is no room; null for others. */
function replyTo(frame: Uint8Array, own: Uint8Array): Uint8Array | null {
  const ethernet = decodeEthernet(frame);
  const ip = ethernet.ok && ethernet.value.etherType === ETHER_TYPE.ipv4 ? decodeIpv4(ethernet.value.payload) : null;
  if (!ethernet.ok || !ip?.ok || ip.value.protocol !== IP_PROTOCOL.tcp || !equalBytes(ip.value.destination, own)) return null;
  const tcp = decodeTcp(ip.value.payload);
  if (!tcp.ok || (tcp.value.flags & TCP_FLAG.rst) !== 0) return null;
  const isSyn = (tcp.value.flags & TCP_FLAG.syn) !== 0;
  const ends = { source: own, destination: ip.value.source };
  const segment = encodeTcp({
    sourcePort: tcp.value.destinationPort, destinationPort: tcp.value.sourcePort, flags: isSyn ? TCP_FLAG.syn | TCP_FLAG.ack : TCP_FLAG.ack,
    sequenceNumber: isSyn ? 1 : 2, acknowledgmentNumber: (tcp.value.sequenceNumber + (isSyn ? 1 : 0)) >>> 0, window: 0,
  }, ends);
  const payload = encodeIpv4({ ...ends, protocol: IP_PROTOCOL.tcp, payload: segment });
  return encodeEthernet({ destination: ethernet.value.source, source: ethernet.value.destination, etherType: ETHER_TYPE.ipv4, payload });
}

openCapture({
  interface: interfaceName, filter: `tcp and dst host ${address} and not ether src ${mac}`, snapLength: 128, promiscuous: false,
  clock: systemClock,
  onFrames(batch) {
    const replies = batch.map(({ bytes }) => replyTo(bytes, own)).filter((reply) => reply !== null);
    void injector.send(replies).catch((error: unknown) => console.error(error));
  },
  onLost(reason) {
    console.error(reason);
    process.exit(1);
  },
});
console.log(`answering every port of ${address}`);
