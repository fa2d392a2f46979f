export * from "./decoded.ts";
export * from "./errors.ts";
export * from "./reader.ts";
export * from "./writer.ts";
export * from "./addresses.ts";
export * from "./address-facts.ts";
export * from "./address-prefix.ts";
export * from "./asn1.ts";
export * from "./checksum.ts";
export * from "./numbers.ts";
export * from "./frame.ts";
export { decodeEthernet, encodeEthernet, type EthernetFrame, MINIMUM_ETHERNET_LENGTH } from "./ethernet.ts";
export type { VlanTag } from "./vlan.ts";
export { decodeLlc, encodeLlc, type LlcHeader, type SnapHeader } from "./llc.ts";
export { ARP_OPERATION, type ArpFields, type ArpPacket, decodeArp, encodeArp } from "./arp.ts";
export { decodeIpv4, encodeIpv4, type Ipv4Fields, type Ipv4Packet } from "./ipv4.ts";
export { decodeIpv6, encodeIpv6, type Ipv6Fields, type Ipv6Packet } from "./ipv6.ts";
export type { ExtensionHeader } from "./ipv6-extensions.ts";
export {
  decodeIcmpv4,
  encodeIcmpv4,
  ICMPV4_TYPE,
  type Icmpv4Echo,
  type Icmpv4Error,
  type Icmpv4Message,
  type Icmpv4Other,
} from "./icmpv4.ts";
export {
  decodeIcmpv6,
  encodeIcmpv6,
  ICMPV6_TYPE,
  type Icmpv6Echo,
  type Icmpv6Error,
  type Icmpv6Message,
  type Icmpv6Other,
} from "./icmpv6.ts";
export {
  NDP_HOP_LIMIT,
  NDP_TYPE,
  type NdpMessage,
  ndpLinkLayerAddress,
  type NeighborAdvertisement,
  type RouterAdvertisement,
} from "./ndp.ts";
export type { NdpOption, NdpPrefixInformation } from "./ndp-options.ts";
export { MLD_HOP_LIMIT, MLD_ROUTER_ALERT, MLD_TYPE, type MldMessage, type MldQuery, type MldRecord } from "./mld.ts";
export { decodeUdp, encodeUdp, type UdpDatagram } from "./udp.ts";
export { decodeTcp, encodeTcp, TCP_FLAG, type TcpFields, type TcpSegment } from "./tcp.ts";
export type { SackBlock, TcpOption } from "./tcp-options.ts";
export * from "./text.ts";
export {
  decodeLldp,
  encodeLldp,
  LLDP_CAPABILITIES,
  LLDP_CHASSIS_SUBTYPE,
  LLDP_DESTINATIONS,
  LLDP_PORT_SUBTYPE,
  type LldpId,
  type LldpItem,
  type LldpManagementAddress,
  type LldpPdu,
} from "./lldp.ts";
export type { LldpPower } from "./lldp-dot3.ts";
export { CDP_CAPABILITIES, CDP_DESTINATION, CDP_SNAP, type CdpItem, type CdpPdu, decodeCdp, encodeCdp } from "./cdp.ts";
export { type CdpAddress, cdpChecksum, cdpIpAddress } from "./cdp-tlvs.ts";
export { decodeFdp, encodeFdp, FDP_DESTINATION, FDP_SNAP, type FdpItem, type FdpPdu } from "./fdp.ts";
export { decodeEdp, EDP_DESTINATION, EDP_SNAP, type EdpItem, type EdpPdu, encodeEdp } from "./edp.ts";
export { decodeSonmp, encodeSonmp, SONMP_DESTINATION, SONMP_SNAP, type SonmpHello } from "./sonmp.ts";
export { createCaptureReader, readCapture } from "./capture-file.ts";
export {
  type CaptureBatch,
  type CaptureFrame,
  type CaptureReader,
  type CaptureRecord,
  MAX_CAPTURE_RECORD_BYTES,
} from "./capture-file-framing.ts";
export type { ByteOrder } from "./capture-file-order.ts";
export { createPcapWriter, type PcapOptions, type PcapWriter } from "./pcap.ts";
export { createPcapngWriter, type PcapngInterface, type PcapngOptions, type PcapngWriter } from "./pcapng-writer.ts";
export * from "./dhcp.ts";
export * from "./dhcp-discover.ts";
export { DHCP_OPTION, type DhcpOptions } from "./dhcp-options.ts";
export * from "./dhcp-values.ts";
export * from "./dns.ts";
export { splitDnsName } from "./dns-name.ts";
export { DNS_CLASS, DNS_TYPE, type DnsData, type EdnsOption } from "./dns-records.ts";
export * from "./dns-reverse.ts";
