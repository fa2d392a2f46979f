/** Names of link types, for saying what a capture file holds that is not read. @see https://www.tcpdump.org/linktypes.html */
const NAMES: ReadonlyMap<number, string> = new Map([
  [0, "BSD null/loopback"], [1, "Ethernet"], [6, "Token Ring"], [7, "ARCNET"], [8, "SLIP"], [9, "PPP"], [10, "FDDI"], [50, "PPP with HDLC framing"], [51, "PPPoE"],
  [100, "ATM (RFC 1483)"], [101, "raw IP"], [104, "Cisco HDLC"], [105, "IEEE 802.11"], [107, "Frame Relay"], [108, "OpenBSD loopback"], [113, "Linux cooked capture"],
  [117, "OpenBSD pf log"], [119, "IEEE 802.11 with Prism header"], [122, "IP over Fibre Channel"], [127, "IEEE 802.11 with radiotap header"], [143, "DOCSIS"],
  [147, "a user's own (0)"], [163, "IEEE 802.11 with AVS header"], [166, "PPP of Linux pppd"], [187, "Bluetooth HCI"], [189, "USB of Linux"], [192, "PPI"],
  [195, "IEEE 802.15.4"], [201, "Bluetooth HCI with direction"], [209, "IPMB of Linux"], [220, "USB of Linux with padding"], [224, "Fibre Channel"], [227, "CAN"],
  [228, "raw IPv4"], [229, "raw IPv6"], [230, "IEEE 802.15.4 without check sequence"], [239, "Linux netfilter log"], [247, "InfiniBand"], [249, "USBPcap"],
  [251, "Bluetooth Low Energy"], [253, "Linux netlink"], [264, "ISO 14443"], [272, "IEEE 802.11 with nRF sniffer"], [276, "Linux cooked capture 2"],
]);

/** @returns What the link type is called, with its number: "IEEE 802.11 (link type 105)"; the number alone where it has no name here. */
export function linkTypeName(linkType: number): string {
  const name = NAMES.get(linkType);
  return name === undefined ? `link type ${linkType}` : `${name} (link type ${linkType})`;
}
