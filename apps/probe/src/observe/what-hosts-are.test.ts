import { DHCP_MESSAGE_TYPE, DHCP_OPTION, DNS_TYPE, encodeDns, encodeUtf8, formatIp, formatMac } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { macBytes } from "../hosts/host.ts";
import { createLink, type Link } from "../capture/link.ts";
import { toBusFrame } from "../bus/frame-bus.ts";
import { observeFrame } from "./observe-frame.ts";
import { dhcpFrame, HOST, ip, OWN, synFrame, type TcpOptions, udpFrame } from "./testing/frames.ts";

const link = createLink({ mac: OWN, up: true, addresses: [{ ip: "192.168.1.2", prefixLength: 24 }] }) as Link;

/** What a frame says of what hosts are: value by host, field and source. */
function factsOf(bytes: Uint8Array): Readonly<Record<string, string>> {
  const facts: Record<string, string> = {};
  observeFrame(toBusFrame({ bytes, wireLength: bytes.length, atMicroseconds: 0 }), link, {
    seen: () => undefined, expectation: () => undefined, name: () => undefined, listenerQuery: () => undefined,
    facts(host, said) {
      const who = "mac" in host ? formatMac(macBytes(host.mac)) : formatIp(host.address);
      for (const { field, value, source } of said) facts[`${who} ${field} by ${source}`] = value;
    },
  });
  return facts;
}

describe("what hosts are", () => {

  test("a DHCP client shows by its list of parameters, its vendor class and its identifier; a server names the router", () => {
    const request = dhcpFrame(DHCP_MESSAGE_TYPE.request, new Map([
      [DHCP_OPTION.parameterRequestList, Uint8Array.of(1, 3, 6, 12, 15, 28, 42)],
      [DHCP_OPTION.vendorClassIdentifier, encodeUtf8("udhcp 1.35.0")],
      [DHCP_OPTION.clientIdentifier, Uint8Array.of(1, 0, 0x11, 0x22, 0x33, 0x44, 0x55)],
    ]));
    expect(factsOf(request)).toEqual({
      [`${HOST} os by dhcp:parameters`]: "Linux", [`${HOST} os by dhcp:class`]: "Linux",
      [`${HOST} dhcp_client_id by dhcp`]: "01001122334455",
    });
    const ack = dhcpFrame(
      DHCP_MESSAGE_TYPE.ack, new Map([[DHCP_OPTION.router, Uint8Array.of(192, 168, 1, 1, 8, 8, 8, 8)]]), { yiaddr: "192.168.1.20" },
    );
    expect(factsOf(ack)).toEqual({ "192.168.1.1 device_type by dhcp:router": "router" });
  });

  test("a service of mDNS is the host's at whose address it ends, and nobody's where a reflector tells of another link", () => {
    const name = "Office Printer._ipp._tcp.local";
    const offer = (address: string) => udpFrame("192.168.1.20", "224.0.0.251", [5353, 5353], encodeDns({
      isResponse: true,
      answers: [{ name: "_ipp._tcp.local", type: DNS_TYPE.ptr, ttlSeconds: 4500, data: { kind: "name", name } }],
      additionals: [
        { name, type: DNS_TYPE.srv, ttlSeconds: 120, data: { kind: "srv", priority: 0, weight: 0, port: 631, target: "Printer.local" } },
        {
          name, type: DNS_TYPE.txt, ttlSeconds: 4500,
          data: { kind: "txt", strings: ["txtvers=1", "rp=ipp/print", "ty=Brother HL-L2350DW"].map((text) => encodeUtf8(text)) },
        },
        { name: "printer.local", type: DNS_TYPE.a, ttlSeconds: 120, data: { kind: "address", address: ip(address) } },
      ],
    }));
    expect(factsOf(offer("192.168.1.30"))).toEqual({
      "192.168.1.30 device_type by mdns:_ipp._tcp": "printer", "192.168.1.30 model by mdns:_ipp._tcp": "Brother HL-L2350DW",
      "192.168.1.30 vendor by mdns:_ipp._tcp": "Brother",
    });
    expect(factsOf(offer("10.9.9.9"))).toEqual({});
  });

  test("a UPnP device announces, and a search says nothing", () => {
    const notify = "NOTIFY * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nNT: urn:schemas-upnp-org:device:InternetGatewayDevice:1\r\nNTS: "
      + "ssdp:alive\r\n\r\n";
    const send = (text: string, from = "192.168.1.20") => factsOf(udpFrame(from, "239.255.255.250", [50_000, 1900], encodeUtf8(text)));
    expect(send(notify)).toEqual({ [`${HOST} device_type by ssdp:device`]: "router" });
    expect(send(notify, "10.9.9.9")).toEqual({});
    expect(
      send('M-SEARCH * HTTP/1.1\r\nMAN: "ssdp:discover"\r\nST: urn:schemas-upnp-org:device:InternetGatewayDevice:1\r\n\r\n'),
    ).toEqual({});
  });

  test("a handshake shows by the order of its options, and only of who is on the link", () => {
    const linux: TcpOptions = [
      { kind: "maximum-segment-size", bytes: 1460 }, { kind: "sack-permitted" }, { kind: "timestamps", value: 1, echoReply: 0 },
      { kind: "no-operation" }, { kind: "window-scale", shift: 7 },
    ];
    expect(factsOf(synFrame("192.168.1.20", linux))).toEqual({ [`${HOST} os by tcp:syn`]: "Linux" });
    expect(factsOf(synFrame("192.168.1.20", linux, { isAnswer: true }))).toEqual({ [`${HOST} os by tcp:syn-ack`]: "Linux" });
    expect(factsOf(synFrame("192.168.1.20", linux, { hopLimit: 63 }))).toEqual({});
    expect(factsOf(synFrame("10.9.9.9", linux))).toEqual({});
    expect(factsOf(synFrame("192.168.1.20", []))).toEqual({});
  });

  test("whatever is cut or changed of what they say, nothing throws", () => {
    const frames = [
      synFrame("192.168.1.20", [{ kind: "sack-permitted" }]),
      udpFrame(
        "192.168.1.20", "239.255.255.250", [50_000, 1900],
        encodeUtf8("NOTIFY * HTTP/1.1\r\nNT: upnp:rootdevice\r\nSERVER: a UPnP/1.0 b/1\r\n\r\n"),
      ),
      dhcpFrame(
        DHCP_MESSAGE_TYPE.request,
        new Map([[DHCP_OPTION.parameterRequestList, new Uint8Array(255)], [DHCP_OPTION.clientIdentifier, Uint8Array.of(1)]]),
      ),
    ];
    for (const frame of frames) for (let length = 0; length <= frame.length; length += 1) factsOf(frame.subarray(0, length));
    let state = 1;
    const random = () => (state = (state * 48_271) % 2_147_483_647);
    for (let round = 0; round < 5000; round += 1) {
      const frame = Uint8Array.from(frames[round % frames.length] as Uint8Array);
      for (let change = 0; change < 4; change += 1) frame[14 + (random() % (frame.length - 14))] = random() & 0xff;
      factsOf(frame);
    }
  });
});
