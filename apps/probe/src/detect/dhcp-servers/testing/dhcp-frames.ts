/** DHCP as clients and servers speak it. For tests only. */
import { decodeDhcp, decodeFrame, DHCP_MESSAGE_TYPE, DHCP_OP, DHCP_OPTION, dhcpMessageType, encodeDhcp, encodeUtf8 } from "@lanthorn/packets";
import { ip, mac, udpFrame } from "../../../observe/testing/frames.ts";

/** The server of the link, which is its gateway as well. */
export const SERVER = { server: "192.168.1.1", mac: "00:aa:bb:cc:dd:01", gateway: "192.168.1.1", dns: "192.168.1.1" } as const;
/** Another, which leads clients to itself. */
export const ROGUE = { server: "192.168.1.66", mac: "00:aa:bb:cc:dd:66", gateway: "192.168.1.66", dns: "192.168.1.66" } as const;
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
  return udpFrame(from.sourceIp ?? from.server, "255.255.255.255", [67, 68], message, { from: from.mac });
}

interface Asked {
  /** The MAC that the frame comes from, where that is not the client's. */
  readonly sender?: string;
  readonly vendorClass?: string;
}

/** What a client sends. */
export function ask(type: "discover" | "request" | "decline", client = CLIENT, server?: string, hostName?: string, { sender = client, vendorClass }: Asked = {}): Uint8Array {
  const options = new Map<number, Uint8Array>([
    [DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE[type])],
    ...(server ? [[DHCP_OPTION.serverIdentifier, ip(server)] as const, [DHCP_OPTION.requestedIpAddress, ip("192.168.1.77")] as const] : []),
    ...(hostName ? [[DHCP_OPTION.hostName, encodeUtf8(hostName)] as const] : []),
    ...(vendorClass ? [[DHCP_OPTION.vendorClassIdentifier, encodeUtf8(vendorClass)] as const] : []),
  ]);
  return udpFrame("0.0.0.0", "255.255.255.255", [68, 67], encodeDhcp({ op: DHCP_OP.bootRequest, xid: 7, chaddr: mac(client), options }), { from: sender });
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
