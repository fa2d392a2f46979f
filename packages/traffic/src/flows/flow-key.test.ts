import { parseIpv4, parseIpv6 } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { formatFlow } from "./flow-key.ts";

const end = (ip: Uint8Array | null, port: number) => ({ ip: ip ?? new Uint8Array(0), port });

test("a flow is written as who spoke to whom, IPv6 in brackets", () => {
  const originator = end(parseIpv4("192.0.2.1"), 4711);
  const responder = end(parseIpv6("2001:db8::1"), 443);
  expect(formatFlow({ originator, responder })).toBe("192.0.2.1:4711 > [2001:db8::1]:443");
});
