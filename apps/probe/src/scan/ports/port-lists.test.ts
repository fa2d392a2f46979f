import { formatPortRanges, holdsPort, PortRanges, readPortRanges, SCAN_PROFILES } from "@lanthorn/contract/uplink";
import { isPrintPort } from "@lanthorn/packet-io";
import { decodeDhcp, DHCP_MESSAGE_TYPE, dhcpMessageType, formatIp } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { portsOf } from "./port-lists.ts";
import { udpRequests } from "../../probing/frames/udp-requests.ts";

test("each profile asks as many ports as it says, each once and rising, and no print port", () => {
  for (const profile of ["discovery", "gentle", "quick", "standard", "full", "deep"] as const) {
    const { tcp, udp } = portsOf(profile);
    for (const ports of [tcp, udp]) {
      expect(ports).toEqual([...new Set(ports)].toSorted((a, b) => a - b));
      expect(ports.some((port) => isPrintPort(port) || port < 1 || port > 65_535)).toBe(false);
    }
    // All of `full` but the nine print ports.
    expect([tcp.length, udp.length]).toEqual([
      SCAN_PROFILES[profile].tcp_ports - (profile === "full" ? 9 : 0), SCAN_PROFILES[profile].udp_ports,
    ]);
  }
});

test("each profile's lists are taken by the contract as ranges, and hold no other ports", () => {
  const isHeld = (text: string) => {
    const ranges = readPortRanges(text);
    return Array.from({ length: 65_536 }, (_, port) => port).filter((port) => holdsPort(ranges, port));
  };
  for (const profile of ["discovery", "gentle", "quick", "standard", "full", "deep"] as const) {
    for (const ports of Object.values(portsOf(profile))) {
      const text = formatPortRanges(ports);
      expect([PortRanges.safeParse(text).success, isHeld(text)]).toEqual([true, ports]);
    }
  }
  expect(formatPortRanges(portsOf("full").tcp)).toBe("1-514,516-9099,9108-65535");
});

test("each UDP port has a protocol to be asked by", () => {
  const source = { mac: Uint8Array.of(2, 0, 0, 0, 0, 1), ip: 0x0a000005, port: 61_000 };
  const questions = udpRequests(portsOf("standard").udp, source, () => 0.5);
  expect(questions.map(({ port }) => port)).toEqual(portsOf("standard").udp);
  const inform = decodeDhcp(questions.find(({ port }) => port === 67)?.payloads[0] ?? new Uint8Array());
  expect(inform.ok && [formatIp(inform.value.ciaddr), dhcpMessageType(inform.value.options)])
    .toEqual(["10.0.0.5", DHCP_MESSAGE_TYPE.inform]);
});
