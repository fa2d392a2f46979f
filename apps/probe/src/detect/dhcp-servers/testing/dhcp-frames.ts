/** DHCP as clients and servers speak it. For tests only. */
import { decodeDhcp, decodeFrame, DHCP_MESSAGE_TYPE, DHCP_OP, DHCP_OPTION, dhcpMessageType, encodeDhcp, encodeUtf8 } from "@lanthorn/packets";
import { ip, mac, udpFrame } from "../../../observe/testing/frames.ts";

/** The server of the link, which is its gateway as well. */
export const SERVER = { server: "192.168.1.1", mac: "00:aa:bb:cc:dd:01", gateway: "192.168.1.1", dns: "192.168.1.1" } as const;
/** Another, which leads clients to itself. */
export const ROGUE = { server: "192.168.1.66", mac: "00:aa:bb:cc:dd:66", gateway: "192.168.1.66", dns: "192.168.1.66" } as const;
/** MAC of a relay. */
export const RELAY = "00:1e:f7:05:a8:80";
/** A client's MAC. */
export const CLIENT = "00:11:22:33:44:55";

interface Answer {
  readonly server: string;
  readonly mac: string;
  readonly gateway?: string | undefined;
  readonly dns?: string | undefined;
  readonly type?: keyof typeof DHCP_MESSAGE_TYPE;
  readonly giaddr?: string;
  readonly yiaddr?: string;
  readonly sourceIp?: string;
  /** It goes to the relay, not to clients. */
  readonly isToRelay?: boolean;
  readonly vlanId?: number;
  /** Options by code, beside the others. */
  readonly options?: readonly (readonly [number, Uint8Array])[];
}

/** What a server sends. */
export function answer(from: Answer): Uint8Array {
  const { type = "offer", giaddr = "0.0.0.0", yiaddr = type === "nak" ? "0.0.0.0" : "192.168.1.77" } = from;
  const options = new Map<number, Uint8Array>([
    [DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE[type])], [DHCP_OPTION.serverIdentifier, ip(from.server)],
    ...(from.gateway ? [[DHCP_OPTION.router, ip(from.gateway)] as const] : []), ...(from.dns ? [[DHCP_OPTION.domainNameServer, ip(from.dns)] as const] : []),
    ...(from.options ?? []),
  ]);
  const message = encodeDhcp({ op: DHCP_OP.bootReply, xid: 7, chaddr: mac(CLIENT), yiaddr: ip(yiaddr), giaddr: ip(giaddr), options });
  const frame = from.isToRelay
    ? udpFrame(from.sourceIp ?? from.server, giaddr, [67, 67], message, { from: from.mac, to: RELAY })
    : udpFrame(from.sourceIp ?? from.server, "255.255.255.255", [67, 68], message, { from: from.mac });
  return inVlan(frame, from.vlanId);
}

/** The server's frame as an answer to our own search: the scene's random number gives every search the same identifier. */
export function toOurSearch(frame: Uint8Array): Uint8Array {
  const copy = frame.slice();
  new DataView(copy.buffer).setUint32(14 + 20 + 8 + 4, 2 ** 31);
  return copy;
}

/** The frame with a tag of this VLAN. */
export function inVlan(frame: Uint8Array, vlanId?: number): Uint8Array {
  return vlanId === undefined ? frame : Uint8Array.from([...frame.slice(0, 12), 0x81, 0, vlanId >> 8, vlanId & 255, ...frame.slice(12)]);
}

interface Asked {
  /** The MAC that the frame comes from, where that is not the client's. */
  readonly sender?: string;
  readonly vendorClass?: string;
  /** The relay that passes it on to servers. */
  readonly giaddr?: string;
}

/** What a client sends. */
export function ask(type: "discover" | "request" | "decline", client = CLIENT, server?: string, hostName?: string, { sender = client, vendorClass, giaddr }: Asked = {}): Uint8Array {
  const options = new Map<number, Uint8Array>([
    [DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE[type])],
    ...(server ? [[DHCP_OPTION.serverIdentifier, ip(server)] as const, [DHCP_OPTION.requestedIpAddress, ip("192.168.1.77")] as const] : []),
    ...(hostName ? [[DHCP_OPTION.hostName, encodeUtf8(hostName)] as const] : []),
    ...(vendorClass ? [[DHCP_OPTION.vendorClassIdentifier, encodeUtf8(vendorClass)] as const] : []),
  ]);
  const message = encodeDhcp({ op: DHCP_OP.bootRequest, xid: 7, chaddr: mac(client), options, ...(giaddr ? { giaddr: ip(giaddr) } : {}) });
  return giaddr ? udpFrame(giaddr, "192.168.1.1", [67, 67], message, { from: sender, to: SERVER.mac }) : udpFrame("0.0.0.0", "255.255.255.255", [68, 67], message, { from: sender });
}

/** The types of DHCP messages in frames. */
export function messageTypes(frames: readonly Uint8Array[]): readonly (number | null)[] {
  return frames.flatMap((bytes) => {
    const frame = decodeFrame(bytes);
    const message = frame.ok && frame.value.destinationPort === 67 ? decodeDhcp(frame.value.payload) : null;
    return message?.ok ? [dhcpMessageType(message.value.options)] : [];
  });
}

/** The `n`th of MACs that differ. */
export const macOf = (n: number) => `02:12:34:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`;
