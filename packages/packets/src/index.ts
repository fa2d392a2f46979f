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
export { type Audience, decodeFrame, type Frame, type NetworkLayer, type TransportLayer } from "./frame.ts";
export { decodeEthernet, encodeEthernet, type EthernetFrame, MINIMUM_ETHERNET_LENGTH } from "./link/ethernet.ts";
export type { VlanTag } from "./link/vlan.ts";
export { linkTypeName } from "./link/link-type-names.ts";
export { decodeLlc, encodeLlc, type LlcHeader, type SnapHeader } from "./link/llc.ts";
export {
  type BridgeId, decodeStp, encodeStp, type MstRegion, PVST_DESTINATION, PVST_SNAP, STP_ACCESS_POINT, STP_DESTINATIONS, type StpConfiguration,
  type StpPdu,
} from "./link/stp.ts";
export { decodeDtp, DTP_DESTINATION, DTP_SNAP, type DtpPdu, encodeDtp } from "./link/dtp.ts";
export { decodeVtp, VTP_SNAP, type VtpPdu } from "./link/vtp.ts";
export { ARP_OPERATION, type ArpFields, type ArpPacket, decodeArp, encodeArp } from "./link/arp.ts";
export { decodeIpv4, encodeIpv4, type Ipv4Fields, type Ipv4Packet } from "./ip/ipv4.ts";
export { decodeIpv6, encodeIpv6, type Ipv6Fields, type Ipv6Packet } from "./ip/ipv6.ts";
export type { ExtensionHeader } from "./ip/ipv6-extensions.ts";
export {
  decodeIcmpv4,
  encodeIcmpv4,
  ICMPV4_TYPE,
  type Icmpv4Echo,
  type Icmpv4Error,
  type Icmpv4Message,
  type Icmpv4Other,
} from "./ip/icmpv4.ts";
export {
  decodeIcmpv6,
  encodeIcmpv6,
  ICMPV6_TYPE,
  type Icmpv6Echo,
  type Icmpv6Error,
  type Icmpv6Message,
  type Icmpv6Other,
} from "./ip/icmpv6.ts";
export {
  isNdpType,
  NDP_HOP_LIMIT,
  NDP_TYPE,
  type NdpMessage,
  ndpLinkLayerAddress,
  type NeighborAdvertisement,
  type RouterAdvertisement,
} from "./ip/ndp.ts";
export type { NdpOption, NdpPrefixInformation } from "./ip/ndp-options.ts";
export { MLD_HOP_LIMIT, MLD_ROUTER_ALERT, MLD_TYPE, type MldMessage, type MldQuery, type MldRecord } from "./ip/mld.ts";
export { decodeTeredo, TEREDO_PORT, type TeredoPacket } from "./ip/teredo.ts";
export { type Decapsulated, decapsulate, isTunnelSign, MAX_ENCAPSULATIONS, mayBeTunnelPort, type Unwrapped, unwrapFrame } from "./tunnels/unwrap.ts";
export type { EncapsulationKind } from "./tunnels/envelope.ts";
export { decodeUdp, encodeUdp, type UdpDatagram } from "./transport/udp.ts";
export { decodeTcp, encodeTcp, TCP_FLAG, type TcpFields, type TcpSegment } from "./transport/tcp.ts";
export type { SackBlock, TcpOption } from "./transport/tcp-options.ts";
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
} from "./neighbors/lldp.ts";
export type { LldpPower } from "./neighbors/lldp-dot3.ts";
export { CDP_CAPABILITIES, CDP_DESTINATION, CDP_SNAP, type CdpItem, type CdpPdu, decodeCdp, encodeCdp } from "./neighbors/cdp.ts";
export { type CdpAddress, cdpChecksum, cdpIpAddress } from "./neighbors/cdp-tlvs.ts";
export { decodeFdp, encodeFdp, FDP_DESTINATION, FDP_SNAP, type FdpItem, type FdpPdu } from "./neighbors/fdp.ts";
export { decodeEdp, EDP_DESTINATION, EDP_SNAP, type EdpItem, type EdpPdu, encodeEdp } from "./neighbors/edp.ts";
export { decodeSonmp, encodeSonmp, SONMP_DESTINATION, SONMP_SNAP, type SonmpHello } from "./neighbors/sonmp.ts";
export { createCaptureReader, readCapture } from "./capture-file/capture-file.ts";
export {
  type CaptureBatch,
  type CaptureFrame,
  type CaptureReader,
  type CaptureRecord,
  MAX_CAPTURE_RECORD_BYTES,
} from "./capture-file/capture-file-framing.ts";
export type { ByteOrder } from "./capture-file/capture-file-order.ts";
export { createPcapWriter, type PcapOptions, type PcapWriter } from "./capture-file/pcap.ts";
export type { PacketFacts, PlacedFrame } from "./capture-file/pcapng-packet.ts";
export {
  createPcapngWriter, type PcapngInterface, type PcapngOptions, type PcapngStatistics, type PcapngTime, type PcapngWriter,
  MIN_PADDING_OCTETS, PADDING_BLOCK,
} from "./capture-file/pcapng-writer.ts";
export { type BpfFilter, type BpfInstruction, createBpfFilter, MAX_BPF_INSTRUCTIONS } from "./filter/bpf.ts";
export * from "./dhcp/dhcp.ts";
export * from "./dhcp/dhcp-discover.ts";
export { DHCP_OPTION, type DhcpOptions } from "./dhcp/dhcp-options.ts";
export * from "./dhcp/dhcp-values.ts";
export * from "./dhcp/dhcpv6.ts";
export * from "./dns/dns.ts";
export * from "./dns/dns-query.ts";
export { splitDnsName } from "./dns/dns-name.ts";
export { DNS_CLASS, DNS_TYPE, type DnsData, type EdnsOption, SERVICE_PARAMETER, type ServiceParameter } from "./dns/dns-records.ts";
export * from "./dns/dns-reverse.ts";
export {
  decodeNetbiosName, encodeNetbiosAnswer, encodeNetbiosQuery, NETBIOS_NAME_PORT, type NetbiosAddress, type NetbiosMessage, type NetbiosName,
} from "./dns/netbios.ts";
