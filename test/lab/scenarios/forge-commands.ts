import {
  CDP_DESTINATION, CDP_SNAP, DHCP_BROADCAST_FLAG, DHCP_MESSAGE_TYPE, DHCP_OP, DHCP_OPTION, DHCP_PORT, encodeCdp, encodeDhcp, encodeDhcpDiscover, encodeEthernet, encodeIpv4, encodeLldp, encodeLlc, ETHER_TYPE,
} from "@lanthorn/packets";
import { arpClaim, BROADCAST, type ForgeEnd, type ForgeLink, ipv4, mac, randomMac, udpFrame } from "./forge-frames.ts";
import { announceSleepProxy, answerNames, askNames } from "./forge-names.ts";

type Command = (link: ForgeLink, args: readonly string[]) => Promise<void>;

const IPV6_IN_IPV4 = 41;
const PXE_OPTION = { architecture: 93, network: 94, machine: 97 } as const;
const ANYBODY: ForgeEnd = { mac: BROADCAST, ip: ipv4("255.255.255.255"), port: DHCP_PORT.server };
/** The lab's gateway, at a port where nobody listens. */
const GATEWAY: ForgeEnd = { mac: mac("18:fd:74:77:00:01"), ip: ipv4("10.77.0.1"), port: 9 };
const SPANNING_TREE = mac("01:80:c2:00:00:00");
const NEAREST_BRIDGE = mac("01:80:c2:00:00:0e");

/** How often the devices of `late-neighbors` speak. */
const LATE_STEP_MS = 500;

/** The lab's own switch by LLDP, from another MAC. */
function switchClaim(source: Uint8Array): Uint8Array {
  const payload = encodeLldp({
    chassisId: { subtype: 4, id: mac("28:80:88:77:00:00") }, portId: { subtype: 5, id: new TextEncoder().encode("port1") }, ttlSeconds: 120,
    items: [{ kind: "system-name", text: "switch.lab.test" }, { kind: "system-capabilities", supported: 0x14, enabled: 0x14 }],
  });
  return encodeEthernet({ destination: NEAREST_BRIDGE, source, etherType: ETHER_TYPE.lldp, payload });
}

/** What `forge` can do, by name; arguments follow the interface. */
export const FORGE_COMMANDS: Readonly<Record<string, Command>> = {
  /** MAC IP CLAIMED MS TIMES: claims an address for a MAC that is not the sender's own. */
  "arp-claims": async (link, [source, ip, claimed, everyMs, times]) => {
    const frame = arpClaim({ source: mac(source), sender: mac(claimed), ip: ipv4(ip) });
    await link.repeat({ everyMs: Number(everyMs), times: Number(times) }, () => link.send([frame]));
  },
  /** IP MAC MS TIMES: announces an address for a MAC, in frames of that MAC: what a host that has it would send. */
  "arp-announce": async (link, [ip, owner, everyMs, times]) => {
    const frame = arpClaim({ source: mac(owner), sender: mac(owner), ip: ipv4(ip) });
    await link.repeat({ everyMs: Number(everyMs), times: Number(times) }, () => link.send([frame]));
  },
  /** MAC PREFIX A_SECOND SECONDS: the first three octets. */
  "arp-storm": async (link, [source, prefix, perSecond, seconds]) => {
    const own = mac(source);
    const claims = Array.from({ length: 40 }, (_, index) => arpClaim({ source: own, sender: own, ip: ipv4(`${prefix}.${212 + index}`) }));
    const batch = claims.slice(0, Math.max(1, Math.round(Number(perSecond) / 10)));
    await link.repeat({ everyMs: 100, times: Number(seconds) * 10 }, () => link.send(batch));
  },
  /** MAC TIMES: only asks, once a second. */
  "dhcp-discover": async (link, [client, times]) => {
    const from: ForgeEnd = { mac: mac(client), ip: ipv4("0.0.0.0"), port: DHCP_PORT.client };
    await link.repeat({ everyMs: 1000, times: Number(times) }, (index) => link.send([
      udpFrame(from, ANYBODY, encodeDhcpDiscover({ xid: 0x7700_0000 + index, chaddr: from.mac })),
    ]));
  },
  /** SERVER_MAC SERVER GATEWAY CLIENT_MAC TIMES: offers in a server's name, for another gateway, once a second. */
  "dhcp-offers": async (link, [serverMac, server, gateway, client, times]) => {
    const from: ForgeEnd = { mac: mac(serverMac), ip: ipv4(server), port: DHCP_PORT.server };
    const options = new Map([
      [DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE.offer)], [DHCP_OPTION.serverIdentifier, from.ip],
      [DHCP_OPTION.ipAddressLeaseTime, Uint8Array.of(0, 0, 14, 16)], [DHCP_OPTION.subnetMask, Uint8Array.of(255, 255, 255, 0)],
      [DHCP_OPTION.router, ipv4(gateway)],
    ]);
    await link.repeat({ everyMs: 1000, times: Number(times) }, (index) => link.send([udpFrame(
      from, { ...ANYBODY, port: DHCP_PORT.client },
      encodeDhcp({ op: DHCP_OP.bootReply, xid: 0x7700_0000 + index, chaddr: mac(client), yiaddr: ipv4("10.77.0.198"), options }),
    )]));
  },
  /** MAC TIMES: asks as a card that boots from the network. @see PXE 2.1 section 2.2.2, RFC 4578 */
  "pxe-discover": async (link, [client, times]) => {
    const from: ForgeEnd = { mac: mac(client), ip: ipv4("0.0.0.0"), port: DHCP_PORT.client };
    const options = new Map([
      [DHCP_OPTION.dhcpMessageType, Uint8Array.of(DHCP_MESSAGE_TYPE.discover)],
      [DHCP_OPTION.vendorClassIdentifier, new TextEncoder().encode("PXEClient:Arch:00000:UNDI:002001")],
      [DHCP_OPTION.parameterRequestList, Uint8Array.of(1, 3, 6, 43, 60, 66, 67)],
      [PXE_OPTION.architecture, Uint8Array.of(0, 0)], [PXE_OPTION.network, Uint8Array.of(1, 2, 1)], [PXE_OPTION.machine, new Uint8Array(17)],
    ]);
    await link.repeat({ everyMs: 1000, times: Number(times) }, (index) => link.send([udpFrame(from, ANYBODY, encodeDhcp({
      op: DHCP_OP.bootRequest, xid: 0x7800_0000 + index, flags: DHCP_BROADCAST_FLAG, chaddr: from.mac, options,
    }))]));
  },
  /** A_SECOND SECONDS: asks under forged MACs. */
  "dhcp-starvation": async (link, [perSecond, seconds]) => {
    const batch = Math.max(1, Math.round(Number(perSecond) / 10));
    await link.repeat({ everyMs: 100, times: Number(seconds) * 10 }, (index) => link.send(Array.from({ length: batch }, (_, one) => {
      const from: ForgeEnd = { mac: randomMac(Math.random), ip: ipv4("0.0.0.0"), port: DHCP_PORT.client };
      return udpFrame(from, ANYBODY, encodeDhcpDiscover({ xid: 0x5500_0000 + index * batch + one, chaddr: from.mac, hostName: "host" }));
    })));
  },
  /** MAC MS TIMES: configuration BPDUs of a root with priority 0. @see IEEE 802.1D-2004 9.3.1 */
  stp: async (link, [source, everyMs, times]) => {
    const own = [...mac(source)];
    const bridge = [0, 0, ...own];
    const bpdu = Uint8Array.from([0, 0, 0, 0, 0, ...bridge, 0, 0, 0, 0, ...bridge, 0x80, 0x01, 0, 0, 20, 0, 2, 0, 15, 0]);
    const payload = encodeLlc({ destinationServiceAccessPoint: 0x42, sourceServiceAccessPoint: 0x42, control: 3, snap: null, payload: bpdu });
    const frame = encodeEthernet({ destination: SPANNING_TREE, source: mac(source), etherType: null, payload });
    await link.repeat({ everyMs: Number(everyMs), times: Number(times) }, () => link.send([frame]));
  },
  /** MAC IP TARGET MS TIMES: VLAN 20 inside VLAN 1. */
  "double-tags": async (link, [source, ip, target, everyMs, times]) => {
    const tag = { protocol: 0x8100, priority: 0, isDropEligible: false };
    const frame = udpFrame(
      { mac: mac(source), ip: ipv4(ip), port: 40_000 }, { mac: BROADCAST, ip: ipv4(target), port: 9 }, new Uint8Array(32),
      { vlanTags: [{ ...tag, vlanId: 1 }, { ...tag, vlanId: 20 }] },
    );
    await link.repeat({ everyMs: Number(everyMs), times: Number(times) }, () => link.send([frame]));
  },
  /** MAC MS TIMES: a switch and router by CDP. */
  cdp: async (link, [source, everyMs, times]) => {
    const pdu = encodeCdp({
      version: 2, ttlSeconds: 180,
      items: [
        { kind: "device-id", text: "core-1.lab.test" }, { kind: "port-id", text: "GigabitEthernet1/0/1" }, { kind: "capabilities", bits: 0x29 },
        { kind: "platform", text: "cisco WS-C3850-24T" }, { kind: "version", text: "Cisco IOS Software" }, { kind: "native-vlan", vlanId: 1 },
      ],
    });
    const payload = encodeLlc({
      destinationServiceAccessPoint: 0xaa, sourceServiceAccessPoint: 0xaa, control: 3, snap: CDP_SNAP, payload: pdu,
    });
    const frame = encodeEthernet({ destination: mac(CDP_DESTINATION), source: mac(source), etherType: null, payload });
    await link.repeat({ everyMs: Number(everyMs), times: Number(times) }, () => link.send([frame]));
  },
  /** MAC MS TIMES: the lab's own switch by LLDP, from another MAC. */
  lldp: async (link, [source, everyMs, times]) => {
    const frame = switchClaim(mac(source));
    await link.repeat({ everyMs: Number(everyMs), times: Number(times) }, () => link.send([frame]));
  },
  /** COUNT EVERY TALKS: one device after the other, EVERY milliseconds, speaks for TALKS milliseconds and then says that it is the LAN's own switch. */
  "late-neighbors": async (link, [count, everyMs, talksMs]) => {
    const [devices, every, talks] = [Number(count), Number(everyMs), Number(talksMs)];
    const steps = Math.ceil(((devices - 1) * every + talks) / LATE_STEP_MS) + 1;
    await link.repeat({ everyMs: LATE_STEP_MS, times: steps }, async (step) => {
      const now = step * LATE_STEP_MS;
      for (let device = 0; device < devices; device += 1) {
        const since = now - device * every;
        const source = Uint8Array.of(0x02, 0x66, 0x77, 0, device >> 8, device & 255);
        if (since < 0 || since > talks) continue;
        const end: ForgeEnd = { mac: source, ip: ipv4(`198.51.100.${(device % 250) + 1}`), port: 40_000 };
        await link.send([since > talks - LATE_STEP_MS ? switchClaim(source) : udpFrame(end, GATEWAY, new Uint8Array(32))]);
      }
    });
  },
  /** MAC IP GATEWAY MS TIMES: an IPv6 ping inside IPv4. @see RFC 4213 section 3 */
  tunnel: async (link, [source, ip, gateway, everyMs, times]) => {
    const inner = Uint8Array.from([
      0x60, 0, 0, 0, 0, 8, 58, 64, ...v6("2002:a4d:0001"), ...v6("2001:db8:1"), 128, 0, 0, 0, 0, 1, 0, 1,
    ]);
    const payload = encodeIpv4({ source: ipv4(ip), destination: ipv4(gateway), protocol: IPV6_IN_IPV4, payload: inner });
    const frame = encodeEthernet({ destination: GATEWAY.mac, source: mac(source), etherType: ETHER_TYPE.ipv4, payload });
    await link.repeat({ everyMs: Number(everyMs), times: Number(times) }, () => link.send([frame]));
  },
  /** IP MAC MS TIMES: datagrams of an address from this MAC, whatever MAC the address is known by. */
  traffic: async (link, [ip, source, everyMs, times]) => {
    const from: ForgeEnd = { mac: mac(source), ip: ipv4(ip), port: 40_000 };
    const frame = udpFrame(from, GATEWAY, new Uint8Array(32));
    await link.repeat({ everyMs: Number(everyMs), times: Number(times) }, () => link.send([frame]));
  },
  "name-poisoner": answerNames,
  "name-questions": askNames,
  "sleep-proxy": announceSleepProxy,
};

/** The first octets of an IPv6 address, then zeros, and 1 at its end. */
function v6(start: string): readonly number[] {
  const groups = start.split(":").map((group) => Number.parseInt(group, 16));
  const bytes = groups.flatMap((group) => [group >> 8, group & 0xff]);
  return [...bytes, ...Array.from({ length: 15 - bytes.length }, () => 0), 1];
}
