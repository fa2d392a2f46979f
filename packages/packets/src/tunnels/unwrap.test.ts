import { expect, test } from "vitest";
import { decodeFrame, type Frame } from "../frame.ts";
import { encodeIpv4 } from "../ip/ipv4.ts";
import { ETHER_TYPE, IP_PROTOCOL } from "../numbers.ts";
import { fromHex, joinBytes } from "../testing/bytes.ts";
import { everyTruncation, seededMutations } from "../testing/hostile.ts";
import { behindEthernet, behindIpv4, behindUdp, INNER_IPV4, INNER_PORTS, TUNNEL_FRAMES } from "../testing/tunnel-frames.ts";
import { decapsulate, MAX_ENCAPSULATIONS, unwrapFrame } from "./unwrap.ts";

function decode(bytes: Uint8Array, wireLength = bytes.length): Frame {
  const result = decodeFrame(bytes, { wireLength });
  if (!result.ok) throw new Error(`malformed ${result.layer} at ${result.offset}`);
  return result.value;
}

test.each(TUNNEL_FRAMES)("the query is found behind $name", ({ bytes, encapsulations, network = 0, vlanIds = [] }) => {
  const { frame, ...rest } = decapsulate(decode(bytes));
  expect(rest).toEqual({ encapsulations, network, notUnderstood: null });
  expect([frame.transport, frame.sourcePort, frame.destinationPort]).toEqual(["udp", INNER_PORTS.source, INNER_PORTS.destination]);
  expect(frame.vlanTags.map(({ vlanId }) => vlanId)).toEqual(vlanIds);
  expect([frame.bytes, frame.payload.length]).toEqual([bytes, 29]);
});

test.each(TUNNEL_FRAMES.filter(({ encapsulations }) => encapsulations.length > 0))(
  "each truncation and 4,000 mutations of $name end in a packet or a reason, within seconds",
  ({ bytes }) => {
    const startedAt = process.cpuUsage();
    for (const damaged of [...everyTruncation(bytes), ...seededMutations(bytes, 4000, bytes.length)]) {
      for (const wireLength of [damaged.length, damaged.length + 200]) {
        const outer = decodeFrame(damaged, { wireLength });
        if (!outer.ok) continue;
        const { frame, encapsulations, notUnderstood } = decapsulate(outer.value);
        if (encapsulations.length > MAX_ENCAPSULATIONS || notUnderstood === "" || frame.payloadEnd > damaged.length || frame.payloadOffset > frame.payloadEnd) {
          expect.fail(`${notUnderstood} for ${Buffer.from(damaged).toString("hex")}`);
        }
      }
    }
    expect(process.cpuUsage(startedAt).user).toBeLessThan(10_000_000);
  },
);

test("a frame cut by the snap length is read as far as it goes", () => {
  for (const { bytes, encapsulations } of TUNNEL_FRAMES) {
    const { frame, ...rest } = decapsulate(decode(bytes.slice(0, -20), bytes.length));
    expect([rest.encapsulations, frame.sourcePort, frame.isCut]).toEqual([encapsulations, INNER_PORTS.source, true]);
  }
});

test("nesting ends at a bound, and says so", () => {
  let packet = INNER_IPV4;
  for (let depth = 0; depth <= MAX_ENCAPSULATIONS; depth += 1) {
    packet = encodeIpv4({ protocol: IP_PROTOCOL.ipv4, source: fromHex("c0000201"), destination: fromHex("c0000202"), payload: packet });
  }
  const { encapsulations, notUnderstood } = decapsulate(decode(behindEthernet(ETHER_TYPE.ipv4, packet)));
  expect([encapsulations.length, notUnderstood]).toEqual([MAX_ENCAPSULATIONS, "too-deep"]);
});

test("a datagram on a tunnel's port that is no tunnel is a datagram", () => {
  for (const [port, payload] of [
    [4789, fromHex(`00000000 00002a 00 ${"11".repeat(30)}`)], [4789, fromHex(`08000001 00002a 00 ${"11".repeat(30)}`)], [4789, fromHex("0800")],
    [4790, fromHex(`3c000001 00002c 00 ${"11".repeat(30)}`)], [6081, fromHex(`4000 6558 00002d 00 ${"11".repeat(30)}`)],
    [6081, fromHex("0440 0800 00002e 00 0102 80 1f deadbeef")], [3544, fromHex("4500")], [3544, joinBytes(fromHex("60000000 0001"), new Uint8Array(50))],
  ] as const) {
    expect(unwrapFrame(decode(behindUdp(port, payload)))).toBeNull();
  }
});

test("the packets of a tunnel that are fragments are no tunnel yet", () => {
  const packet = encodeIpv4({
    protocol: IP_PROTOCOL.gre, source: fromHex("c0000201"), destination: fromHex("c0000202"), moreFragments: true,
    payload: joinBytes(fromHex("0000 0800"), INNER_IPV4),
  });
  expect(unwrapFrame(decode(behindEthernet(ETHER_TYPE.ipv4, packet)))).toBeNull();
});

test.each([
  ["ppp-c021", behindEthernet(ETHER_TYPE.pppoeSession, fromHex("1100 0001 0006 c021 01010004"))],
  ["pppoe-header", behindEthernet(ETHER_TYPE.pppoeSession, fromHex("1200 0001 0006 0021 01010004"))],
  ["pppoe-length", behindEthernet(ETHER_TYPE.pppoeSession, fromHex("1100 0001 ff06 0021 01010004"))],
  ["gre-version-3", behindIpv4(IP_PROTOCOL.gre, fromHex("0003 0800"), INNER_IPV4)],
  ["gre-routing", behindIpv4(IP_PROTOCOL.gre, fromHex("4000 0800"), INNER_IPV4)],
  ["gre-empty", behindIpv4(IP_PROTOCOL.gre, fromHex("0000 0000"))],
  ["gre-truncated", behindIpv4(IP_PROTOCOL.gre, fromHex("2000 0800 00"))],
  ["gre-malformed", behindIpv4(IP_PROTOCOL.gre, fromHex("0000 0800 5500"))],
  ["erspan-version", behindIpv4(IP_PROTOCOL.gre, fromHex("1000 22eb 00000001 3064 0001 00000001 0000 0000"))],
  ["erspan-frame-type", behindIpv4(IP_PROTOCOL.gre, fromHex("1000 22eb 00000001 2064 0001 00000001 0000 0400"))],
  ["mpls-associated-channel", behindEthernet(ETHER_TYPE.mpls, fromHex("000121ff 10000007"), new Uint8Array(40))],
  ["mpls-fragment", behindEthernet(ETHER_TYPE.mpls, fromHex("000121ff 00800007"), new Uint8Array(40))],
  ["mpls-labels", behindEthernet(ETHER_TYPE.mpls, fromHex("000120ff".repeat(20)))],
  ["mpls-empty", behindEthernet(ETHER_TYPE.ipv4, encodeIpv4({
    protocol: IP_PROTOCOL.gre, source: fromHex("c0000201"), destination: fromHex("c0000202"), payload: fromHex("0000 8847 000121ff"),
  }))],
  ["geneve-control", behindUdp(6081, fromHex("0080 6558 00002d 00"), INNER_IPV4)],
  ["vxlan-gpe-operation", behindUdp(4790, fromHex("0d000003 00002c 00"), INNER_IPV4)],
  ["vxlan-gpe-4", behindUdp(4790, fromHex("0c000004 00002c 00"), INNER_IPV4)],
])("%s names what is inside an encapsulation but cannot be read", (reason, bytes) => {
  expect(decapsulate(decode(bytes)).notUnderstood).toBe(reason);
});

test("a frame behind MPLS without a control word may begin with any four bits", () => {
  for (const first of ["00", "10", "40", "60", "a0"]) {
    const inner = joinBytes(fromHex(`${first}1b21000003 001b21000002 0800`), INNER_IPV4);
    const { frame, encapsulations } = decapsulate(decode(behindEthernet(ETHER_TYPE.mpls, fromHex("000121ff"), inner)));
    expect([encapsulations, frame.sourcePort]).toEqual([["mpls"], INNER_PORTS.source]);
    expect(frame.destinationMac?.[0]).toBe(Number.parseInt(first, 16));
  }
});

test("a mirror that says that it cut the frame is believed", () => {
  const inner = joinBytes(fromHex("001b21000003 001b21000002 0800"), INNER_IPV4.subarray(0, 40));
  const bytes = (flags: string) => behindIpv4(IP_PROTOCOL.gre, fromHex(`1000 88be 00000009 1064 ${flags} 00000005`), inner);
  expect(decapsulate(decode(bytes("0401"))).frame).toMatchObject({ sourcePort: INNER_PORTS.source, isCut: true });
  expect(decapsulate(decode(bytes("0001"))).notUnderstood).toBe("erspan-malformed");
});
