import { expect, test } from "vitest";
import { expectSafe, play } from "../testing/play-application.ts";
import { QUIC_V1, QUIC_V2_SPLIT } from "../testing/quic-conversations.ts";
import { QUIC_APPLICATION } from "./quic.ts";

/** Values are those that Suricata 7.0.10 has for the same datagrams. */

const FLOW = { transport: "udp", clientPort: 40_000, serverPort: 443 } as const;
const CLIENT = {
  "quic.sni to-server": ["example.com"], "ja3.hash to-server": ["41bc9ae914d6cb3bd0bd0a5453ab7d7f"],
  "ja3.string to-server": ["771,4865-4866,0-65281-10-16-5-51-43-13-45-28-57,29-23-24,"], "ja4.hash to-server": ["q13d0211an_62ed6f6ca7ad_4d634acda6c0"],
};

test("each datagram is a transaction with its version, and the hello that it makes whole", () => {
  expect(play(QUIC_APPLICATION, QUIC_V1, { flow: FLOW }).transactions).toEqual([
    { ...CLIENT, "quic.version to-server": ["\0\0\0\x01"] },
    { "quic.version to-client": ["\0\0\0\x01"], "ja3s.hash to-client": ["eb1d94daa7e0344597e756a1fb6e7054"], "ja3s.string to-client": ["771,4865,51-43"] },
  ]);
  expect(play(QUIC_APPLICATION, QUIC_V2_SPLIT, { flow: FLOW }).transactions).toEqual([{ "quic.version to-server": ["k3C\xcf"] }, { ...CLIENT, "quic.version to-server": ["k3C\xcf"] }]);
});

test("a flow is recognized by what its client sends to port 443", () => {
  const [[, first] = ["to-server", new Uint8Array(0)]] = QUIC_V1;
  const verdict = (serverPort: number, direction: "to-server" | "to-client", bytes = first) => QUIC_APPLICATION.recognize?.({ flow: { ...FLOW, serverPort }, direction, bytes, other: new Uint8Array(0) });
  expect([verdict(443, "to-server"), verdict(4433, "to-server"), verdict(443, "to-client"), verdict(443, "to-server", new Uint8Array(64).fill(0x40))]).toEqual(["yes", "no", "no", "no"]);
});

test("hostile datagrams do no harm", () => {
  expectSafe(QUIC_APPLICATION, [...QUIC_V1, ...QUIC_V2_SPLIT], FLOW);
});
