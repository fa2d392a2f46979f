import { encodeEthernet, encodeIpv4, encodeUdp, ETHER_TYPE, IP_PROTOCOL, parseIp } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { seededMutations } from "../../../../../packages/packets/src/testing/hostile.ts";
import { udpFrame, viewOf } from "../capture-files/testing/frames.ts";
import { createFrameMatch } from "./match-frame.ts";

/** 10.0.0.1 to 10.0.0.2 within VXLAN from 192.0.2.1 to 192.0.2.2, as many times as there are layers. */
function vxlan(layers: number): Uint8Array {
  const ends = { source: parseIp("192.0.2.1") as Uint8Array, destination: parseIp("192.0.2.2") as Uint8Array };
  let frame: Uint8Array = udpFrame({});
  for (let layer = 0; layer < layers; layer += 1) {
    const payload = encodeUdp({ sourcePort: 50_000, destinationPort: 4789, payload: Buffer.concat([Buffer.of(8, 0, 0, 0, 0, 0, 7, 0), frame]) }, ends);
    frame = encodeEthernet({
      destination: Uint8Array.of(2, 0, 0, 0, 0, 9), source: Uint8Array.of(2, 0, 0, 0, 0, 8), etherType: ETHER_TYPE.ipv4,
      payload: encodeIpv4({ ...ends, protocol: IP_PROTOCOL.udp, payload }),
    });
  }
  return frame;
}
const isFound = (frame: Uint8Array, host: string, peer: string | null = null, side: "both" | "source" | "destination" = "both") =>
  createFrameMatch({ host, peer, side })?.(viewOf(frame));

test("a host inside of tunnels is found, and so are their ends", () => {
  for (const layers of [1, 2, 8]) {
    const frame = vxlan(layers);
    expect(["10.0.0.1", "10.0.0.2", "192.0.2.1", "02:00:00:00:00:01", "02:00:00:00:00:08", "10.0.0.3"].map((host) => isFound(frame, host))).toEqual([true, true, true, true, true, false]);
    expect([isFound(frame, "10.0.0.1", "10.0.0.2"), isFound(frame, "10.0.0.1", "192.0.2.2")]).toEqual([true, false]);
    expect([isFound(frame, "10.0.0.1", null, "source"), isFound(frame, "10.0.0.1", null, "destination")]).toEqual([true, false]);
  }
  expect(isFound(vxlan(9), "10.0.0.1")).toBe(false);
});

test("damaged tunnels are looked at without a fault", () => {
  const match = createFrameMatch({ host: "10.0.0.1", peer: null, side: "both" });
  const frame = vxlan(2);
  for (let length = 0; length <= frame.length; length += 1) match?.(viewOf(frame.subarray(0, length)));
  for (const damaged of seededMutations(frame, 3000, 5)) match?.(viewOf(Uint8Array.from(damaged)));
});
