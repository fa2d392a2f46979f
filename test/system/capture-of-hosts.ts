import { writeFileSync } from "node:fs";
import { ARP_OPERATION, BROADCAST_MAC, createPcapWriter, encodeArp, encodeEthernet, ETHER_TYPE, formatMac } from "@lanthorn/packets";

const LINKTYPE_ETHERNET = 1;
const HOSTS_A_SUBNET = 250;

/**
 * Writes a pcap file in which `count` hosts announce themselves by ARP, each once.
 * @param count At most 12,000,000; from 10.20.0.1 on.
 * @returns Their MACs in the order of the file.
 * @see RFC 5227 section 2.3
 */
export function writeCaptureOfHosts(path: string, count: number): readonly string[] {
  const writer = createPcapWriter({ linkType: LINKTYPE_ETHERNET });
  const macs = Array.from({ length: count }, (_, index) => Uint8Array.of(0x00, 0x11, 0x32, index >>> 16, index >>> 8, index));
  const records = macs.map((mac, index) => writer.record({
    seconds: 1_700_000_000 + Math.floor(index / 1000), nanoseconds: (index % 1000) * 1_000_000, bytes: announcement(mac, addressOf(index)),
  }));
  writeFileSync(path, Buffer.concat([writer.header(), ...records]));
  return macs.map((mac) => formatMac(mac));
}

function addressOf(index: number): Uint8Array {
  const subnet = Math.floor(index / HOSTS_A_SUBNET);
  return Uint8Array.of(10, 20 + (subnet >>> 8), subnet, 1 + (index % HOSTS_A_SUBNET));
}

function announcement(mac: Uint8Array, address: Uint8Array): Uint8Array {
  const payload = encodeArp({
    operation: ARP_OPERATION.request, senderHardwareAddress: mac, senderProtocolAddress: address,
    targetHardwareAddress: new Uint8Array(6), targetProtocolAddress: address,
  });
  return encodeEthernet({ destination: BROADCAST_MAC, source: mac, etherType: ETHER_TYPE.arp, payload });
}
