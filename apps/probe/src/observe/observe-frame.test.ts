import {
  DHCP_MESSAGE_TYPE,
  DHCP_OPTION,
  DNS_TYPE,
  encodeDns,
  encodeEthernet,
  encodeUtf8,
  ETHER_TYPE,
  formatIp,
  formatMac,
  type Icmpv6Message,
  solicitedNodeAddress,
} from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { toBusFrame } from "../bus/frame-bus.ts";
import { macBytes } from "../hosts/host.ts";
import { createLink, type Link } from "../capture/link.ts";
import { observeFrame } from "./observe-frame.ts";
import { arpFrame, dhcpFrame, EVERYONE, HOST, ip, mac, ndpFrame, OWN, ROUTER, udpFrame } from "./testing/frames.ts";

const link = createLink({
  mac: OWN,
  up: true,
  addresses: [
    { ip: "192.168.1.2", prefixLength: 24 },
    { ip: "fe80::1", prefixLength: 64 },
    { ip: "2001:db8:1::2", prefixLength: 64 },
  ],
}) as Link;

/** What a frame says, one line each. */
function observe(bytes: Uint8Array): string[] {
  const lines: string[] = [];
  observeFrame(toBusFrame({ bytes, wireLength: bytes.length, atMicroseconds: 0 }), link, {
    seen: (key, address, { source, solicited }) => {
      lines.push(`${formatMac(macBytes(key))} at ${address ? formatIp(address) : "-"} by ${source}${solicited ? " when asked" : ""}`);
    },
    expectation: (key, address) => lines.push(`${formatMac(macBytes(key))} wants ${formatIp(address)}`),
    name: (host, text, source) =>
      lines.push(`${"mac" in host ? formatMac(macBytes(host.mac)) : formatIp(host.address)} is ${text} by ${source}`),
    facts: () => undefined,
    listenerQuery: () => void lines.push("a router asks for groups"),
  });
  return lines;
}

describe("ARP", () => {
  test("shows a host in requests, replies and announcements", () => {
    expect(observe(arpFrame("192.168.1.20", "192.168.1.1"))).toEqual([`${HOST} at 192.168.1.20 by arp`]);
    expect(observe(arpFrame("192.168.1.20", "192.168.1.20"))).toEqual([`${HOST} at 192.168.1.20 by arp`]);
    expect(observe(arpFrame("192.168.1.20", "192.168.1.2", { op: "reply", to: OWN }))).toEqual([
      `${HOST} at 192.168.1.20 by arp when asked`,
    ]);
  });

  test("shows a probe's MAC only, and the address that it is about to take", () => {
    expect(observe(arpFrame("0.0.0.0", "192.168.1.30"))).toEqual([`${HOST} at - by arp`, `${HOST} wants 192.168.1.30`]);
  });

  test("shows no address that no neighbor can have: another subnet's, ours, the network's, the broadcast address", () => {
    for (const address of ["10.0.0.1", "192.168.1.2", "192.168.1.0", "192.168.1.255", "255.255.255.255", "224.0.0.1"]) {
      expect(observe(arpFrame(address, "192.168.1.1"))).toEqual([`${HOST} at - by arp`]);
    }
  });

  test("believes the packet where a wireless bridge puts its own MAC on the frame", () => {
    expect(observe(arpFrame("192.168.1.20", "192.168.1.1", { from: ROUTER, sha: HOST }))).toEqual([
      `${ROUTER} at - by traffic`,
      `${HOST} at 192.168.1.20 by arp`,
    ]);
  });
});

describe("a frame", () => {
  const hello = encodeUtf8("hello");

  test("to all or to us shows its sender, and its address if it is of this link: never a remote one behind the router", () => {
    expect(observe(udpFrame("192.168.1.20", "192.168.1.255", [4000, 4000], hello))).toEqual([`${HOST} at 192.168.1.20 by traffic`]);
    expect(observe(udpFrame("192.168.1.20", "192.168.1.2", [4000, 4000], hello, { to: OWN }))).toEqual([
      `${HOST} at 192.168.1.20 by traffic`,
    ]);
    expect(observe(udpFrame("8.8.8.8", "192.168.1.2", [53, 4000], hello, { from: ROUTER, to: OWN }))).toEqual([
      `${ROUTER} at - by traffic`,
    ]);
    expect(observe(udpFrame("2001:db8:9::1", "ff02::1", [53, 4000], hello, { from: ROUTER, to: "33:33:00:00:00:01" }))).toEqual([
      `${ROUTER} at - by traffic`,
    ]);
    expect(observe(udpFrame("2001:db8:1::20", "ff02::1", [53, 4000], hello, { to: "33:33:00:00:00:01" }))).toEqual([
      `${HOST} at 2001:db8:1::20 by traffic`,
    ]);
  });

  test("of our own, between others, or with a source that no host has, says nothing", () => {
    expect(observe(arpFrame("192.168.1.2", "192.168.1.1", { from: OWN }))).toEqual([]);
    expect(observe(udpFrame("192.168.1.20", "192.168.1.1", [1, 2], hello, { to: ROUTER }))).toEqual([]);
    for (const from of [EVERYONE, "01:00:5e:00:00:01", "00:00:00:00:00:00"])
      expect(observe(arpFrame("192.168.1.20", "192.168.1.1", { from }))).toEqual([]);
    expect(observe(new Uint8Array(0))).toEqual([]);
    expect(observe(new Uint8Array(13))).toEqual([]);
  });

  test("of another VLAN says nothing, and one that is tagged for its priority alone says all", () => {
    const plain = arpFrame("192.168.1.20", "192.168.1.1");
    const tagged = (vlanId: number) =>
      encodeEthernet({
        destination: plain.subarray(0, 6),
        source: plain.subarray(6, 12),
        etherType: ETHER_TYPE.arp,
        payload: plain.subarray(14),
        vlanTags: [{ protocol: ETHER_TYPE.vlan, priority: 3, isDropEligible: false, vlanId }],
      });
    expect(observe(tagged(20))).toEqual([]);
    expect(observe(tagged(0))).toEqual([`${HOST} at 192.168.1.20 by arp`]);
  });

  test("that is malformed or of an unknown protocol still shows that its sender lives", () => {
    expect(observe(arpFrame("192.168.1.20", "192.168.1.1").subarray(0, 30))).toEqual([`${HOST} at - by traffic`]);
    expect(
      observe(encodeEthernet({ destination: mac("01:80:c2:00:00:0e"), source: mac(HOST), etherType: ETHER_TYPE.lldp, payload: hello })),
    ).toEqual([`${HOST} at - by traffic`]);
  });
});

describe("DHCP", () => {
  test("tells the client's name and the address that it wants", () => {
    const options = new Map([
      [DHCP_OPTION.hostName, encodeUtf8("laptop")],
      [DHCP_OPTION.requestedIpAddress, ip("192.168.1.50")],
    ]);
    expect(observe(dhcpFrame(DHCP_MESSAGE_TYPE.request, options))).toEqual([
      `${HOST} at - by traffic`,
      `${HOST} at - by dhcp`,
      `${HOST} is laptop by dhcp`,
      `${HOST} wants 192.168.1.50`,
    ]);
    const fqdn = new Map([[DHCP_OPTION.clientFqdn, Uint8Array.of(0, 0, 0, ...encodeUtf8("pc.example.com"))]]);
    expect(observe(dhcpFrame(DHCP_MESSAGE_TYPE.discover, fqdn))).toContain(`${HOST} is pc.example.com by dhcp`);
    expect(observe(dhcpFrame(DHCP_MESSAGE_TYPE.request, new Map(), { ciaddr: "192.168.1.51" }))).toContain(`${HOST} wants 192.168.1.51`);
  });

  test("tells the client's address when the server acknowledges it, and not when it only offers", () => {
    expect(observe(dhcpFrame(DHCP_MESSAGE_TYPE.ack, new Map(), { yiaddr: "192.168.1.50" }))).toEqual([
      `${ROUTER} at 192.168.1.1 by traffic`,
      `${HOST} at 192.168.1.50 by dhcp`,
    ]);
    expect(observe(dhcpFrame(DHCP_MESSAGE_TYPE.offer, new Map(), { yiaddr: "192.168.1.50" }))).toEqual([
      `${ROUTER} at 192.168.1.1 by traffic`,
    ]);
  });

  test("tells nothing of a client behind a relay", () => {
    const options = new Map([[DHCP_OPTION.hostName, encodeUtf8("elsewhere")]]);
    expect(observe(dhcpFrame(DHCP_MESSAGE_TYPE.discover, options, { giaddr: "10.0.0.1" }))).toEqual([`${HOST} at - by traffic`]);
  });
});

describe("Neighbor Discovery", () => {
  const target = ip("fe80::20");

  test("shows a host in solicitations, advertisements and router messages", () => {
    const said = [{ kind: "source-link-layer-address", address: mac(HOST) }] as const;
    expect(observe(ndpFrame({ kind: "neighbor-solicitation", target, options: said }, "fe80::30", "ff02::1:ff00:20"))).toEqual([
      `${HOST} at fe80::30 by ndp`,
    ]);
    const answer: Icmpv6Message = {
      kind: "neighbor-advertisement",
      isRouter: false,
      isSolicited: true,
      isOverride: true,
      target,
      options: [{ kind: "target-link-layer-address", address: mac(HOST) }],
    };
    expect(observe(ndpFrame(answer, "fe80::20", "fe80::1", { to: OWN }))).toEqual([`${HOST} at fe80::20 by ndp when asked`]);
    expect(observe(ndpFrame({ kind: "router-solicitation", options: [] }, "fe80::30", "ff02::2"))).toEqual([`${HOST} at fe80::30 by ndp`]);
    const advert: Icmpv6Message = {
      kind: "router-advertisement",
      hopLimit: 64,
      isManaged: false,
      hasOtherConfiguration: false,
      preference: "medium",
      routerLifetimeSeconds: 1800,
      reachableTimeMs: 0,
      retransmissionTimerMs: 0,
      options: [],
    };
    expect(observe(ndpFrame(advert, "fe80::99", "ff02::1", { from: ROUTER }))).toEqual([`${ROUTER} at fe80::99 by ndp`]);
  });

  test("shows by duplicate address detection the MAC only, and the address that it is about to take", () => {
    expect(observe(ndpFrame({ kind: "neighbor-solicitation", target, options: [] }, "::", formatIp(solicitedNodeAddress(target))))).toEqual(
      [`${HOST} at - by ndp`, `${HOST} wants fe80::20`],
    );
  });

  test("is not believed when it came through a router", () => {
    const forged: Icmpv6Message = {
      kind: "neighbor-advertisement",
      isRouter: false,
      isSolicited: false,
      isOverride: true,
      target,
      options: [],
    };
    expect(observe(ndpFrame(forged, "2001:db8:9::9", "ff02::1", { from: ROUTER, hopLimit: 254 }))).toEqual([`${ROUTER} at - by traffic`]);
  });
});

describe("Multicast DNS", () => {
  const record = (name: string, address: string, ttlSeconds = 120) => ({
    name,
    type: ip(address).length === 4 ? DNS_TYPE.a : DNS_TYPE.aaaa,
    ttlSeconds,
    data: { kind: "address", address: ip(address) } as const,
  });
  const send = (message: Uint8Array) => udpFrame("192.168.1.20", "224.0.0.251", [5353, 5353], message, { to: "01:00:5e:00:00:fb" });

  test("names the addresses of this link in answers and additional records", () => {
    const message = encodeDns({
      isResponse: true,
      answers: [record("printer.local", "192.168.1.20")],
      additionals: [record("printer.local", "fe80::20"), record("printer.local", "172.17.0.1")],
    });
    expect(observe(send(message))).toEqual([
      `${HOST} at 192.168.1.20 by traffic`,
      "192.168.1.20 is printer.local by mdns",
      "fe80::20 is printer.local by mdns",
    ]);
  });

  test("names nobody in questions, in goodbyes, and outside of .local", () => {
    const quiet = [
      encodeDns({ isResponse: false, answers: [record("printer.local", "192.168.1.20")] }),
      encodeDns({ isResponse: true, answers: [record("printer.local", "192.168.1.20", 0), record("www.example.com", "192.168.1.20")] }),
    ];
    for (const message of quiet) expect(observe(send(message))).toEqual([`${HOST} at 192.168.1.20 by traffic`]);
  });
});

describe("hostile frames", () => {
  const options = new Map([
    [DHCP_OPTION.hostName, encodeUtf8("laptop")],
    [DHCP_OPTION.requestedIpAddress, ip("192.168.1.50")],
  ]);
  const answers = [
    { name: "printer.local", type: DNS_TYPE.a, ttlSeconds: 120, data: { kind: "address", address: ip("192.168.1.20") } as const },
  ];
  const samples = {
    ARP: arpFrame("192.168.1.20", "192.168.1.1"),
    DHCP: dhcpFrame(DHCP_MESSAGE_TYPE.request, options),
    NDP: ndpFrame(
      { kind: "neighbor-solicitation", target: ip("fe80::20"), options: [{ kind: "source-link-layer-address", address: mac(HOST) }] },
      "fe80::30",
      "ff02::1:ff00:20",
    ),
    mDNS: udpFrame("192.168.1.20", "224.0.0.251", [5353, 5353], encodeDns({ isResponse: true, answers }), { to: "01:00:5e:00:00:fb" }),
  };

  for (const [name, sample] of Object.entries(samples)) {
    test(`never throw, and never show us as a host: ${name}, every truncation and 20,000 mutations`, () => {
      for (let length = 0; length <= sample.length; length += 1) observe(sample.slice(0, length));
      let state = 12_345;
      const random = (limit: number) => {
        state = (state * 48_271) % 2_147_483_647;
        return state % limit;
      };
      for (let round = 0; round < 20_000; round += 1) {
        const copy = sample.slice(0, sample.length - random(2) * random(40));
        for (let changes = 1 + random(4); changes > 0; changes -= 1)
          copy[random(copy.length)] = [0, 1, 0x7f, 0x80, 0xff, random(256)][random(6)] as number;
        const lines = observe(copy);
        if (lines.some((line) => line.startsWith(OWN) || line.includes("at 192.168.1.2 ") || line.includes("at 192.168.1.255")))
          throw new Error(lines.join("; "));
      }
    });
  }
});
