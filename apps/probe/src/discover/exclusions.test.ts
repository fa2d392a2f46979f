import { BROADCAST_MAC, encodeEthernet, encodeIpv4, ETHER_TYPE, IP_PROTOCOL, parseIp, parseMac } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import type { AddressPrefix } from "../observe/address-prefix.ts";
import { createLink, type Link } from "../observe/link.ts";
import { createExclusions, mayLeave, parsePrefixes } from "./exclusions.ts";
import { askAllNodes, askFor, askListeners, askMdnsName } from "./questions.ts";

const ip = (text: string) => parseIp(text) as Uint8Array;
const link = createLink({
  mac: "02:00:00:00:00:01",
  up: true,
  addresses: [
    { ip: "192.168.1.2", prefixLength: 24 },
    { ip: "fe80::1", prefixLength: 64 },
  ],
}) as Link;
const excluding = (...texts: readonly string[]) =>
  createExclusions((parsePrefixes(texts) as { readonly prefixes: readonly AddressPrefix[] }).prefixes);
const ask = (address: string, mac: string | null = null) => askFor(link, ip(address), mac === null ? null : parseMac(mac)) as Uint8Array;

describe("the last look at a frame", () => {
  test("stops questions for excluded addresses of both families, sent to everyone or to one", () => {
    const exclusions = excluding("192.168.1.20", "192.168.1.128/25", "fe80::20/128");
    for (const address of ["192.168.1.20", "192.168.1.128", "192.168.1.255", "fe80::20"]) {
      expect(mayLeave(ask(address), exclusions)).toBe(false);
      expect(mayLeave(ask(address, "00:11:22:33:44:55"), exclusions)).toBe(false);
    }
    for (const address of ["192.168.1.21", "192.168.1.127", "fe80::21"]) expect(mayLeave(ask(address), exclusions)).toBe(true);
  });

  test("stops what goes to all IPv6 nodes while one of them is excluded", () => {
    for (const everyone of [...askAllNodes(link, 1), ...askListeners(link)]) {
      expect(mayLeave(everyone, excluding("192.168.1.20"))).toBe(true);
      expect(mayLeave(everyone, excluding("fe80::20"))).toBe(false);
    }
    expect(askListeners(link)).toHaveLength(1);
  });

  test("lets questions for names out, but not for the name of an excluded address", () => {
    const question = askMdnsName(link, ip("192.168.1.20")) as Uint8Array;
    expect(mayLeave(question, excluding("192.168.1.21"))).toBe(true);
    expect(mayLeave(question, excluding("192.168.1.20"))).toBe(false);
    expect(mayLeave(question.subarray(0, 50), excluding())).toBe(false);
  });

  test("stops what discovery does not make", () => {
    const payload = encodeIpv4({
      source: ip("192.168.1.2"),
      destination: ip("192.168.1.9"),
      protocol: IP_PROTOCOL.udp,
      payload: new Uint8Array(8),
    });
    const frame = encodeEthernet({ destination: BROADCAST_MAC, source: link.mac, etherType: ETHER_TYPE.ipv4, payload });
    expect(mayLeave(frame, excluding())).toBe(false);
    expect(mayLeave(ask("192.168.1.9").subarray(0, 20), excluding())).toBe(false);
  });
});

test("a list of prefixes is refused at its first wrong text", () => {
  for (const wrong of ["", "192.168.1", "192.168.1.1/33", "fe80::/129", "10.0.0.0/", "10.0.0.0/-1", "eth0", "10.0.0.1-10.0.0.9"]) {
    expect(parsePrefixes(["10.0.0.0/8", wrong])).toEqual({ wrong });
  }
});
